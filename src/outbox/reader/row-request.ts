import { hash } from 'node:crypto';
import { Fault } from '../../base/values/errors.ts';
import { isObject } from '../../base/values/is-object.ts';
import { errorCatalog } from '../../host/http/error-catalog.ts';
import type { Receipt } from '../../sending/submission/commit-message.ts';
import { unusableField } from '../../sending/submission/describe-body-problems.ts';
import { type IdempotencyKey, outboxKeyPrefix } from '../../sending/submission/idempotency.ts';
import type { FailedRow } from '../source/source-schemas.ts';
import { maxRowBytes, type OutboxRow, type RowAnswer } from './outbox-table-store.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * The idempotency key of a row: its source and id. Its content is what must not change, so a row that is read again, because its
 * answer wasn't written, gets the answer of the message that it has already.
 */
export function keyOfRow(incarnation: string, row: OutboxRow): IdempotencyKey {
  const { id, template, to_address, data, options, send_at } = row;
  const content = JSON.stringify([template, to_address, data, options, send_at]);
  return {
    text: `${outboxKeyPrefix}${incarnation} ${hash('sha256', id)}`,
    requestHash: hash('sha256', content, 'binary'),
  };
}

/**
 * The body of the send that a row stands for: `options` has the members of a send's body, and the columns add the recipient, the
 * values and the time. Nothing is tracked by default. A time that has passed means at once, because a row can be read late.
 * @param now in milliseconds since the epoch
 * @throws Fault VALIDATION_FAILED if the row is too large or its columns aren't JSON
 */
export function bodyOfRow(row: OutboxRow, now: number): Buffer {
  const { to_address: toAddress, send_at: sendAt, data, options, size } = row;
  if (Number(size) > maxRowBytes || (data?.length ?? 0) + (options?.length ?? 0) > maxRowBytes)
    throw unusableField('data', `and options have more than ${maxRowBytes / 1024} KiB`);
  const given = parse('options', options) ?? {};
  if (!isObject(given)) throw unusableField('options', 'must be an object');
  const values = parse('data', data);
  const isAhead = sendAt !== null && !(Date.parse(sendAt) <= now);
  // What isn't an object stays, so that the send's own check names it.
  const withMembers = (name: string, defaults: Members, members: Members): unknown => {
    const before = given[name] === undefined ? {} : given[name];
    return isObject(before) ? { ...defaults, ...before, ...members } : before;
  };
  const body = {
    ...given,
    envelope: withMembers('envelope', {}, { toAddress }),
    content: withMembers('content', {}, values == null ? {} : { personalizationDataMap: values }),
    actions: withMembers('actions', untracked, isAhead ? { sendAt } : {}),
  };
  return Buffer.from(JSON.stringify(body));
}

function parse(field: string, text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    throw unusableField(field, 'is not valid JSON');
  }
}

const untracked = { trackOpens: false, trackClicks: false };

const maxErrorDetails = 20;

/** The answer of a row: its message, or the error that the API would give. */
export function answerOf(
  { id, version }: OutboxRow,
  outcome: Pick<Receipt, 'messageId'> | Fault,
): RowAnswer {
  if (!(outcome instanceof Fault))
    return { id, version, status: 'accepted', message_id: outcome.messageId, error: null };
  const { code, details, extra } = outcome;
  const { message } = errorCatalog[code];
  const error = { errorName: code, message, details: details.slice(0, maxErrorDetails), ...extra };
  return { id, version, status: 'failed', message_id: null, error: JSON.stringify(error) };
}

/** A failed row as its source shows it. */
export function showFailure({ id, error }: RowAnswer): FailedRow {
  const { errorName, message, details } = JSON.parse(error ?? '{}');
  const [first] = details;
  const detail = first === undefined ? message : `${first.field} ${first.reason}`;
  return { id, errorName, detail: String(detail).slice(0, 300), at: new Date().toISOString() };
}
