import { hash, randomUUID } from 'node:crypto';
import { Type } from 'typebox';
import type { ComparableAddress } from '../../base/values/email-address.ts';
import { Fault } from '../../base/values/errors.ts';
import type { Suppression, SuppressionReason } from '../../content/suppression/suppression.ts';
import { readSuppressionRange } from '../../content/suppression/suppression-store.ts';
import { kibibyte } from '../../host/http/limits/route-limits.ts';
import type { CallTable, DropInRequest } from '../provider/drop-in.ts';
import { defineDropIn, ok, withAttachments } from '../provider/drop-in.ts';
import type { DropInError, ErrorTable } from '../provider/drop-in-errors.ts';
import { DropInRefusal, describeError, toSentence } from '../provider/drop-in-errors.ts';
import { MemberTable, schemas, shape } from '../provider/members.ts';
import { invalidMember, readNumber } from '../provider/place.ts';
import * as sending from '../provider/sending.ts';
import { changeSchedule } from '../provider/sent-messages.ts';
import * as suppressed from '../provider/suppressed-addresses.ts';
import { mailNames, mailSendMembers, readMailSend } from './sendgrid-mails.ts';

/** What the entries with one reason are called, and what they have besides address and time. */
const lists = [
  {
    name: 'bounces',
    reason: 'hard_bounce',
    what: 'addresses that bounced',
    // RFC 3463: permanent, of an undefined kind. The message's timeline has the reply.
    more: { reason: 'The address bounced permanently.', status: '5.0.0' },
  },
  {
    name: 'blocks',
    reason: 'manual',
    what: 'addresses that were suppressed by hand',
    more: { reason: 'The address was suppressed by hand.', status: '5.7.1' },
  },
  {
    name: 'spam_reports',
    reason: 'complaint',
    what: 'addresses that complained',
    more: { ip: '' },
  },
  { name: 'unsubscribes', reason: 'unsubscribe', what: 'addresses that unsubscribed', more: {} },
] as const;

const globalPath = '/v3/asm/suppressions/global';
const maxAdded = 100;
const addedTable = new MemberTable({
  recipient_emails: shape(Type.Array(schemas.address, { maxItems: maxAdded })),
});
const cancelTable = new MemberTable({
  batch_id: 'text',
  status:
    'text: is `cancel`, which can’t be undone; `pause` is refused, because Signalpost pauses no batches',
});

function callsOf({ name, reason, what, more }: (typeof lists)[number]): CallTable {
  const path = `/v3/suppression/${name}`;
  const isGlobal = name === 'unsubscribes';
  const one = `${isGlobal ? globalPath : path}/:email`;
  const view = ({ address, createdAt }: Suppression) => ({
    created: Math.floor(createdAt.getTime() / 1_000),
    email: address,
    ...more,
  });
  return {
    [`GET ${path}?start_time&end_time&limit&offset&email suppressions:read: list ${what}, newest first`]:
      async (request) => ok((await readPage(request, reason)).map(view)),
    [`GET ${one}? suppressions:read: read one of the ${what}`]: async (request) => {
      const entries = await suppressed.readEntries(request, {
        address: addressOf(request),
        reason,
      });
      const found = entries.map(({ address }) => ['recipient_email', address]);
      return ok(isGlobal ? Object.fromEntries(found) : entries.map(view));
    },
    [`DELETE ${one} suppressions:write: remove one of the ${what}`]: async (request) => {
      if (await suppressed.remove(request, { address: addressOf(request), reason }))
        return ok(undefined, 204);
      throw new DropInRefusal('NOT_FOUND', 'The address isn’t on this list.');
    },
  };
}

function addressOf({ params }: DropInRequest): ComparableAddress {
  return suppressed.parseAddress(params.email, 'email');
}

const maxPage = 500;
/** Skipping more would take long. */
const maxOffset = 100_000;
/** Of the year 9999; the database takes no later end. */
const maxSeconds = 253_402_300_798;

async function readPage({ kysely, accountId, query }: DropInRequest, reason: SuppressionReason) {
  const read = (name: string, min: number, max: number, fallback: number): number =>
    readNumber([name, query.get(name)], [min, max], fallback);
  // The second of the end belongs to it.
  const end = read('end_time', 0, maxSeconds, maxSeconds) + 1;
  if (query.has('email'))
    throw invalidMember('email', 'isn’t supported; read the address by its path');
  return readSuppressionRange(kysely, accountId, {
    reason,
    from: new Date(read('start_time', 0, maxSeconds, 0) * 1_000),
    until: new Date(end * 1_000),
    limit: read('limit', 1, maxPage, maxPage),
    offset: read('offset', 0, maxOffset, 0),
  });
}

async function addGlobal(request: DropInRequest) {
  const { recipientEmails: given = [] } = addedTable.read(sending.readJson(request).value);
  if (given.length === 0) throw invalidMember('recipient_emails', 'is required');
  const addresses = given.map((text, index) =>
    suppressed.parseAddress(text, `recipient_emails[${index}]`),
  );
  for (const address of new Set(addresses))
    await suppressed.add(request, { address, reason: 'unsubscribe' });
  return ok({ recipient_emails: addresses }, 201);
}

/** SendGrid's API (https://www.twilio.com/docs/sendgrid/api-reference), as version 8 of its SDK calls it. */
export const sendgrid = defineDropIn({
  name: 'sendgrid',
  // SendGrid's keys begin with `SG.`, which some programs check.
  keyOf: ({ authorization = '' }) => /^bearer +(?:SG\.)?(\S+) *$/i.exec(authorization)?.[1],
  calls: {
    'POST /v3/mail/send messages:send: send emails, now or later, from their content or a template; or check them (sandbox)':
      { answer: sendMail, ...withAttachments, members: mailSendMembers, names: mailNames(0) },
    'POST /v3/mail/batch messages:send: make a batch ID': async ({ accountId }) =>
      ok({ batch_id: `${accountId}-${randomUUID()}` }, 201),
    'POST /v3/user/scheduled_sends queue:control: cancel the scheduled emails of a batch': {
      answer: cancelBatch,
      members: { '': cancelTable },
    },
    ...Object.assign({}, ...lists.map(callsOf)),
    [`POST ${globalPath} suppressions:write: unsubscribe up to ${maxAdded} addresses`]: {
      answer: addGlobal,
      bodyBytes: 64 * kibibyte,
      members: { '': addedTable },
    },
  },
  describeError: describeSendGridError,
  environment: (url, key) => ({ SENDGRID_API_KEY: `SG.${key}`, SENDGRID_BASE_URL: url }),
});

/** Statuses as SendGrid documents them; those of the send operation otherwise. */
const errorStatuses: ErrorTable<number> = {
  MISSING_PERMISSION: 403,
  ACCOUNT_SUSPENDED: 403,
  SENDER_NOT_ALLOWED: 403,
  CONFLICT: 400,
  INVALID_ID: 400,
  VALIDATION_FAILED: 400,
  PERSONALIZATION_FAILURE: 400,
  RECIPIENT_SUPPRESSED: 400,
};

function describeSendGridError(error: DropInError) {
  return ok({ errors: toErrors(error) }, errorStatuses[error.kind] ?? error.status);
}

/** One error for each detail, as SendGrid answers. */
function toErrors({ message, details }: DropInError) {
  if (details.length === 0) return [{ message, field: null, help: null }];
  return details.map((detail) => ({
    message: toSentence(detail),
    field: detail.field || null,
    help: null,
  }));
}

async function sendMail(request: DropInRequest) {
  const { headers, body } = request;
  const json = sending.readJson(request, sending.attachmentsIn('attachments', 'content'));
  const { isSandboxed, messages } = readMailSend(json, (id) => isBatchOf(request, id));
  const isShared = messages.length > 1;
  const send = async () => {
    const wrong = isShared || isSandboxed ? await sending.checkEach(request, messages) : undefined;
    if (wrong !== undefined) throw nameFault(wrong);
    if (isSandboxed) return { status: 200, body: undefined };
    // A repetition is found by the bytes, which decoding its attachments overwrites.
    const hasKey = headers['idempotency-key'] !== undefined;
    const digest = isShared && hasKey ? Buffer.from(hash('sha256', body)) : body;
    const { sent, failed } = await sending.sendEach(request, messages, () => digest);
    const [first] = sent;
    if (first === undefined && failed[0] !== undefined) throw nameFault(failed[0]);
    const serious = failed.find(({ fault }) => fault.code !== 'RECIPIENT_SUPPRESSED');
    if (serious !== undefined) {
      const { fault, index } = serious;
      const reason = `wasn’t sent, but ${sent.length} of ${messages.length} were: ${describeError(nameFault(serious)).message}`;
      const details = [{ field: `personalizations[${index}]`, reason: reason.replace(/\.$/, '') }];
      throw new Fault(fault.code, { details, cause: fault });
    }
    // SendGrid drops suppressed recipients too; here the answer names them.
    const errors = failed.flatMap(({ fault, index }) =>
      toErrors(describeError(fault, mailNames(index))),
    );
    const answer = errors.length === 0 ? undefined : { errors };
    return { status: 202, body: answer, headers: ['x-message-id', first?.messageId ?? ''] };
  };
  return isShared ? sending.useSlot(request, send) : send();
}

/** Names the members of its personalization in errors. */
function nameFault({ fault, index }: sending.FailedMessage): Fault {
  if (fault.details.length === 0) return fault;
  const { code, retryAfter, challenge } = fault;
  const { details } = describeError(fault, mailNames(index));
  return new Fault(code, { details, retryAfter, challenge, cause: fault });
}

const batchPattern = /^(\d+)-[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Batch IDs have the account's, so none is stored. */
function isBatchOf({ accountId }: DropInRequest, id: string): boolean {
  return batchPattern.exec(id)?.[1] === accountId;
}

async function cancelBatch(request: DropInRequest) {
  const { batchId = '', status } = cancelTable.read(sending.readJson(request).value);
  if (!isBatchOf(request, batchId))
    throw invalidMember('batch_id', 'isn’t one from POST /v3/mail/batch');
  if (status !== 'cancel')
    throw invalidMember('status', 'must be cancel; Signalpost pauses no batches');
  if ((await changeSchedule(request, { externalId: batchId })) === 0)
    throw new DropInRefusal('CONFLICT', 'No email with this batch_id waits for its send_at.');
  return ok({ batch_id: batchId, status: 'cancel' }, 201);
}
