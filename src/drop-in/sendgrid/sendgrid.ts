import { hash, randomUUID } from 'node:crypto';
import { Type } from 'typebox';
import type { ComparableAddress } from '../../base/values/email-address.ts';
import { Fault } from '../../base/values/errors.ts';
import type { Suppression, SuppressionReason } from '../../content/suppression/suppression.ts';
import { readSuppressionRange } from '../../content/suppression/suppression-store.ts';
import type { Receipt } from '../../sending/submission/commit-message.ts';
import { forEach } from '../../sending/submission/for-each.ts';
import { changeSchedule } from '../provider/change-schedule.ts';
import {
  type DropInAnswer,
  type DropInCall,
  type DropInError,
  DropInRefusal,
  type DropInRequest,
  defineDropIn,
  ok,
  on,
  withAttachments,
} from '../provider/drop-in.ts';
import { describeError } from '../provider/drop-in-routes.ts';
import { invalidMember, MemberTable, readNumber, supported } from '../provider/members.ts';
import { attachmentsIn, checkUnsent, readJson, sendMessage } from '../provider/send-messages.ts';
import {
  allowAddress,
  parseSuppressedAddress,
  readSuppressedAddress,
  suppressAddress,
} from '../provider/suppressed-addresses.ts';
import { mailNames, mailSendMembers, readMailSend, type SendGridMail } from './sendgrid-mails.ts';

/** A list of SendGrid's: the entries with one reason. */
interface SuppressionList {
  readonly name: 'bounces' | 'blocks' | 'spam_reports' | 'unsubscribes';
  readonly reason: SuppressionReason;
  /** For the documentation. */
  readonly what: string;
  /** What its entries have besides address and time. */
  readonly more: Readonly<Record<string, string>>;
}

const lists: readonly SuppressionList[] = [
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
];

const globalPath = '/v3/asm/suppressions/global';
const maxAdded = 100;
const addedMembers = new MemberTable({
  recipient_emails: supported(
    Type.Array(Type.String({ maxLength: 2_000 }), { maxItems: maxAdded }),
  ),
});

/** The calls for suppressed addresses. */
const suppressionCalls: readonly DropInCall[] = [
  ...lists.flatMap((list) => callsOf(list)),
  on(`POST ${globalPath} suppressions:write: unsubscribe up to ${maxAdded} addresses`, addGlobal, {
    bodyBytes: 64 * 1_024,
    members: { '': addedMembers },
  }),
];

function callsOf(list: SuppressionList): DropInCall[] {
  const { name, reason, what } = list;
  const path = `/v3/suppression/${name}` as const;
  const isGlobal = name === 'unsubscribes';
  const one = `${isGlobal ? globalPath : path}/:email` as const;
  return [
    on(
      `GET ${path} suppressions:read: list ${what}, newest first`,
      (request) => readPage(request, list),
      { query: ['start_time', 'end_time', 'limit', 'offset', 'email'] },
    ),
    on(
      `GET ${one} suppressions:read: read one of the ${what}`,
      async (request) => {
        const entries = await readSuppressedAddress(request, addressOf(request), reason);
        const found = entries.map(({ address }) => ['recipient_email', address]);
        return ok(isGlobal ? Object.fromEntries(found) : entries.map((entry) => view(entry, list)));
      },
      { query: [] },
    ),
    on(`DELETE ${one} suppressions:write: remove one of the ${what}`, async (request) => {
      if (!(await allowAddress(request, addressOf(request), reason)))
        throw new DropInRefusal('NOT_FOUND', 'The address isn’t on this list.');
      return ok(undefined, 204);
    }),
  ];
}

function view({ address, createdAt }: Suppression, { more }: SuppressionList) {
  return { created: Math.floor(createdAt.getTime() / 1_000), email: address, ...more };
}

const maxPage = 500;
/** Skipping more would take long. */
const maxOffset = 100_000;
/** Of the year 9999; the database takes no later end. */
const maxSeconds = 253_402_300_798;

async function readPage(request: DropInRequest, list: SuppressionList): Promise<DropInAnswer> {
  const { services, admission, query } = request;
  const read = (name: string, min: number, max: number, fallback: number): number =>
    readNumber([name, query.get(name)], [min, max], fallback);
  // The second of the end belongs to it.
  const end = read('end_time', 0, maxSeconds, maxSeconds) + 1;
  if (query.has('email'))
    throw invalidMember('email', 'isn’t supported; read the address by its path');
  const entries = await readSuppressionRange(services.database.kysely, admission.account.id, {
    reason: list.reason,
    from: new Date(read('start_time', 0, maxSeconds, 0) * 1_000),
    until: new Date(end * 1_000),
    limit: read('limit', 1, maxPage, maxPage),
    offset: read('offset', 0, maxOffset, 0),
  });
  return ok(entries.map((entry) => view(entry, list)));
}

function addressOf({ params }: DropInRequest): ComparableAddress {
  return parseSuppressedAddress(params.email, 'email');
}

async function addGlobal(request: DropInRequest): Promise<DropInAnswer> {
  const { recipient_emails: given = [] } = addedMembers.read(readJson(request).value);
  if (given.length === 0) throw invalidMember('recipient_emails', 'is required');
  const addresses = given.map((text, index) =>
    parseSuppressedAddress(text, `recipient_emails[${index}]`),
  );
  for (const address of new Set(addresses)) await suppressAddress(request, address, 'unsubscribe');
  return ok({ recipient_emails: addresses }, 201);
}

const smallBodyBytes = 4 * 1_024;

const cancelMembers = new MemberTable({
  batch_id: 'text',
  status:
    'text: is `cancel`, which can’t be undone; `pause` is refused, because Signalpost pauses no batches',
});

const calls: readonly DropInCall[] = [
  on(
    'POST /v3/mail/send messages:send: send emails, now or later, from their content or a template; or check them (sandbox)',
    sendMail,
    { ...withAttachments, members: mailSendMembers, names: mailNames(0) },
  ),
  on(
    'POST /v3/mail/batch messages:send: make a batch ID',
    async ({ admission }) => ok({ batch_id: `${admission.account.id}-${randomUUID()}` }, 201),
    // The SDK sends no body, other clients send `{}`.
    { bodyBytes: smallBodyBytes },
  ),
  on(
    'POST /v3/user/scheduled_sends queue:control: cancel the scheduled emails of a batch',
    cancelBatch,
    { bodyBytes: smallBodyBytes, members: { '': cancelMembers } },
  ),
  ...suppressionCalls,
];

/** SendGrid's API (https://www.twilio.com/docs/sendgrid/api-reference), as version 8 of its SDK calls it. */
export const sendgrid = defineDropIn({
  name: 'sendgrid',
  title: 'SendGrid',
  // SendGrid's keys begin with `SG.`, which some programs check.
  keyOf: ({ authorization = '' }) => /^bearer +(?:SG\.)?(\S+) *$/i.exec(authorization)?.[1],
  calls,
  describeError: describeSendGridError,
  environment: (url, key) => ({ SENDGRID_API_KEY: `SG.${key}`, SENDGRID_BASE_URL: url }),
});

/** Statuses as SendGrid documents them; those of the send operation otherwise. */
const statuses: Partial<Readonly<Record<DropInError['kind'], number>>> = {
  MISSING_PERMISSION: 403,
  ACCOUNT_SUSPENDED: 403,
  SENDER_NOT_ALLOWED: 403,
  CONFLICT: 400,
  INVALID_ID: 400,
  VALIDATION_FAILED: 400,
  PERSONALIZATION_FAILURE: 400,
  RECIPIENT_SUPPRESSED: 400,
};

function describeSendGridError({ kind, status, message, details }: DropInError): DropInAnswer {
  return ok({ errors: toErrors(message, details) }, statuses[kind] ?? status);
}

/** One error for each detail, as SendGrid answers. */
function toErrors(message: string, details: DropInError['details']) {
  if (details.length === 0) return [{ message, field: null, help: null }];
  return details.map(({ field, reason }) => ({
    message: `${field === '' ? reason : `${field} ${reason}`}.`.replace(/^./u, (first) =>
      first.toUpperCase(),
    ),
    field: field === '' ? null : field,
    help: null,
  }));
}

async function sendMail(request: DropInRequest): Promise<DropInAnswer> {
  const { services, admission, headers, body, span } = request;
  const json = readJson(request, attachmentsIn('attachments', 'content'));
  const mail = readMailSend(json, (id) => isBatchOf(request, id));
  const { isSandboxed, messages } = mail;
  const [first] = messages;
  // A request with several emails takes the slot of a batch, which has them elsewhere.
  if (messages.length > 1)
    return services.submission.useItems(admission.account.id, Buffer.from('{"messages":[]}'), () =>
      sendAll(request, mail),
    );
  if (first === undefined) throw new Error('a mail without personalizations was read');
  if (isSandboxed) {
    await checkUnsent(request, first());
    return sandboxed;
  }
  // A repetition is found by its bytes, which decoding its attachments overwrites.
  const idempotencyKey = headers['idempotency-key'];
  return accepted(await sendMessage(request, first(), { idempotencyKey, body, span }));
}

const sandboxed: DropInAnswer = { status: 200, body: undefined };

function accepted({ messageId }: Receipt, body?: unknown): DropInAnswer {
  return { status: 202, body, headers: ['x-message-id', messageId] };
}

/** Checks all emails before it sends one. */
async function sendAll(
  request: DropInRequest,
  { isSandboxed, messages }: SendGridMail,
): Promise<DropInAnswer> {
  const { headers, body, span } = request;
  const key = headers['idempotency-key'];
  const digest = key === undefined ? undefined : Buffer.from(hash('sha256', body));
  const checked = await forEach(messages, (message, index) =>
    withNames(index, () => checkUnsent(request, message())),
  );
  const invalid = checked.find((result) => result instanceof Fault);
  if (invalid !== undefined) throw invalid;
  if (isSandboxed) return sandboxed;
  const results = await forEach(messages, (message, index) => {
    const idempotencyKey = key === undefined ? undefined : `${key}/${index}`;
    return withNames(index, () =>
      sendMessage(request, message(), { idempotencyKey, body: digest, span }),
    );
  });
  const sent = results.flatMap((result) => (result instanceof Fault ? [] : [result]));
  const failed = results.flatMap((fault, index) =>
    fault instanceof Fault ? [{ fault, index }] : [],
  );
  const [first] = sent;
  if (first === undefined) throw failed[0]?.fault;
  const serious = failed.find(({ fault }) => fault.code !== 'RECIPIENT_SUPPRESSED');
  if (serious !== undefined) {
    const { fault, index } = serious;
    const reason = `wasn’t sent, but ${sent.length} of ${results.length} were: ${describeError(fault, {}).message}`;
    const details = [{ field: `personalizations[${index}]`, reason: reason.replace(/\.$/, '') }];
    throw new Fault(fault.code, { details, cause: fault });
  }
  // SendGrid drops suppressed recipients too; here the answer names them.
  const errors = failed.flatMap(({ fault }) => {
    const { message, details } = describeError(fault, {});
    return toErrors(message, details);
  });
  return accepted(first, errors.length === 0 ? undefined : { errors });
}

/** Names the members of this personalization in errors. */
async function withNames<Result>(index: number, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Fault) || error.details.length === 0) throw error;
    const { code, retryAfter, challenge } = error;
    const { details } = describeError(error, mailNames(index));
    throw new Fault(code, { details, retryAfter, challenge, cause: error });
  }
}

const batchPattern = /^(\d+)-[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Batch IDs have the account's, so none is stored. */
function isBatchOf({ admission }: DropInRequest, id: string): boolean {
  return batchPattern.exec(id)?.[1] === admission.account.id;
}

async function cancelBatch(request: DropInRequest): Promise<DropInAnswer> {
  const { batch_id: batchId = '', status } = cancelMembers.read(readJson(request).value);
  if (!isBatchOf(request, batchId))
    throw invalidMember('batch_id', 'isn’t one from POST /v3/mail/batch');
  if (status !== 'cancel')
    throw invalidMember('status', 'must be cancel; Signalpost pauses no batches');
  if ((await changeSchedule(request, { externalId: batchId })) === 0)
    throw new DropInRefusal('CONFLICT', 'No email with this batch_id waits for its send_at.');
  return ok({ batch_id: batchId, status: 'cancel' }, 201);
}
