import { Type } from 'typebox';
import { recordAuditEvent } from '../../accounts/audit/audit-store.ts';
import type { SendingDomain } from '../../accounts/sender/sending-domain.ts';
import {
  readSendingDomain,
  readSendingDomains,
} from '../../accounts/sender/sending-domain-store.ts';
import { readRecordFindings } from '../../accounts/sender/sending-domains.ts';
import { Fault, type FaultDetail } from '../../base/values/errors.ts';
import { parseMessageId } from '../../base/values/ids.ts';
import type { MessageState } from '../../content/message/message-state.ts';
import { mebibyte, sendBodyBytes } from '../../host/http/limits/route-limits.ts';
import { ScheduleStore } from '../../sending/queue/schedule-store.ts';
import { checkSendAt } from '../../sending/submission/delivery-timing.ts';
import { member } from '../../sending/submission/read-body-json.ts';
import {
  type DropIn,
  type DropInAnswer,
  type DropInCall,
  type DropInError,
  DropInRefusal,
  type DropInRequest,
} from '../provider/drop-in.ts';
import { describeError } from '../provider/drop-in-routes.ts';
import { MemberTable, supported } from '../provider/members.ts';
import {
  describeSent,
  findSentMessage,
  findTogether,
  readSentMessage,
  type SentMessage,
  type SentMessageDetail,
} from '../provider/read-sent-message.ts';
import {
  checkUnsent,
  forEach,
  type ProviderMessage,
  readJson,
  sendMessage,
} from '../provider/send-messages.ts';
import { readSentPage } from '../provider/sent-message-store.ts';
import {
  attachmentMembers,
  emailMembers,
  emailNames,
  readEmail,
  readSchedule,
  tagMembers,
  templateMembers,
} from './resend-emails.ts';

const maxBatchEmails = 100;
const smallBodyBytes = 4 * 1_024;

const updateMembers = new MemberTable({ scheduled_at: supported(Type.String({ maxLength: 100 })) });

const sentMembers = {
  '': emailMembers,
  'attachments[]': attachmentMembers,
  'tags[]': tagMembers,
  template: templateMembers,
};

const calls: readonly DropInCall[] = [
  {
    method: 'POST',
    path: '/emails',
    summary: 'send an email, now or later, from its content or a template',
    permission: 'messages:send',
    bodyBytes: sendBodyBytes,
    withAttachments: true,
    members: sentMembers,
    names: { ...emailNames, idempotencyKey: 'Idempotency-Key' },
    answer: sendEmail,
  },
  {
    method: 'POST',
    path: '/emails/batch',
    summary: `send up to ${maxBatchEmails} emails, without attachments; strict or permissive`,
    permission: 'messages:send',
    bodyBytes: 10 * mebibyte,
    names: emailNames,
    answer: sendBatch,
  },
  {
    method: 'GET',
    path: '/emails',
    summary: 'list emails, newest first, one for each recipient',
    permission: 'messages:read',
    query: ['after', 'before', 'limit'],
    answer: listEmails,
  },
  {
    method: 'GET',
    path: '/emails/:id',
    summary: 'read an email and its last event',
    permission: 'messages:read',
    query: [],
    answer: async (request) => ok(viewDetail(await readSentMessage(request, idOf(request)))),
  },
  {
    method: 'PATCH',
    path: '/emails/:id',
    summary: 'move a scheduled email',
    permission: 'queue:control',
    bodyBytes: smallBodyBytes,
    members: { '': updateMembers },
    answer: moveEmail,
  },
  {
    method: 'POST',
    path: '/emails/:id/cancel',
    summary: 'cancel a scheduled email',
    permission: 'queue:control',
    // The SDK sends none, other clients send `{}`.
    bodyBytes: smallBodyBytes,
    answer: cancelEmail,
  },
  {
    method: 'GET',
    path: '/domains',
    summary: 'list the account’s sending domains',
    permission: 'domains:read',
    query: [],
    answer: listDomains,
  },
  {
    method: 'GET',
    path: '/domains/:id',
    summary: 'read a domain and its DNS records; its ID is its name',
    permission: 'domains:read',
    query: [],
    answer: readDomain,
  },
];

/** Resend's API (https://resend.com/docs/api-reference), as version 6 of its SDK calls it. */
export const resend: DropIn = {
  name: 'resend',
  title: 'Resend',
  keyOf: ({ authorization = '' }) => /^bearer +(\S+) *$/i.exec(authorization)?.[1],
  calls,
  describeError: describeResendError,
  scopes: [
    'messages:send',
    'messages:send-content',
    'messages:read',
    'queue:control',
    'domains:read',
  ],
  environment: (url, key) => ({ RESEND_API_KEY: key, RESEND_BASE_URL: url }),
};

/** Status and name of errors as Resend documents them; those of the send operation otherwise. */
const errors: Readonly<Record<DropInError['kind'], readonly [status: number, name: string]>> = {
  MISSING_KEY: [401, 'missing_api_key'],
  UNAUTHORIZED: [403, 'invalid_api_key'],
  MISSING_PERMISSION: [401, 'restricted_api_key'],
  ACCOUNT_SUSPENDED: [403, 'invalid_access'],
  UNSUPPORTED_CALL: [404, 'not_found'],
  NOT_FOUND: [404, 'not_found'],
  CONFLICT: [422, 'validation_error'],
  INVALID_ID: [404, 'not_found'],
  VALIDATION_FAILED: [422, 'validation_error'],
  SENDER_NOT_ALLOWED: [403, 'validation_error'],
  PERSONALIZATION_FAILURE: [422, 'validation_error'],
  RECIPIENT_SUPPRESSED: [422, 'validation_error'],
  IDEMPOTENCY_IN_PROGRESS: [409, 'concurrent_idempotent_requests'],
  IDEMPOTENCY_MISMATCH: [409, 'invalid_idempotent_request'],
  QUOTA_EXCEEDED: [429, 'daily_quota_exceeded'],
  IO_EXCEPTION: [503, 'internal_server_error'],
  INTERNAL_ERROR: [500, 'internal_server_error'],
};

function describeResendError({ kind, message, details }: DropInError): DropInAnswer {
  const [status, name] = errors[kind];
  const answer = (statusCode: number, errorName: string): DropInAnswer => ({
    status: statusCode,
    body: { statusCode, name: errorName, message },
  });
  if (details.some(({ field }) => /^idempotency-?key$/i.test(field)))
    return answer(400, 'invalid_idempotency_key');
  if (kind === 'VALIDATION_FAILED' && details.some(({ reason }) => reason === 'is required'))
    return answer(status, 'missing_required_field');
  return answer(status, name);
}

function ok(body: unknown): DropInAnswer {
  return { status: 200, body };
}

function idOf({ params }: DropInRequest): string {
  return params.id ?? '';
}

const attachmentPlaces = {
  member: 'content',
  find: (body: unknown) => member(body, 'attachments'),
};

async function sendEmail(request: DropInRequest): Promise<DropInAnswer> {
  const { services, headers, body, span } = request;
  // A repetition is found by its bytes, which decoding its attachments overwrites.
  const idempotencyKey = headers['idempotency-key'];
  const { value, contents } = readJson(request, attachmentPlaces);
  const message = readEmail(value, contents, services.clock.now());
  const { messageId } = await sendMessage(request, message, { idempotencyKey, body, span });
  return ok({ id: messageId });
}

const arrayStart = /^\s*\[/;

async function sendBatch(request: DropInRequest): Promise<DropInAnswer> {
  const { services, admission, headers, body, span } = request;
  if (!arrayStart.test(body.toString('latin1', 0, 1_000)))
    throw new Fault('VALIDATION_FAILED', {
      details: [{ field: '', reason: 'the body must be a list of emails' }],
    });
  const wrapped = Buffer.concat([Buffer.from('{"messages":'), body, Buffer.from('}')]);
  const isPermissive = headers['x-batch-validation'] === 'permissive';
  const key = headers['idempotency-key'];
  const { submission, clock } = services;
  return submission.useItems(admission.account.id, wrapped, async (items) => {
    if (items.length > maxBatchEmails)
      throw new Fault('VALIDATION_FAILED', {
        details: [{ field: '', reason: `the list has more than ${maxBatchEmails} emails` }],
      });
    const now = clock.now();
    const messages = await forEach(items, async (item) => readBatchItem(request, item, now));
    if (!isPermissive) await checkAll(request, messages);
    const results = await forEach(messages, async (message, index) => {
      if (message instanceof Fault) throw message;
      const idempotencyKey = key === undefined ? undefined : `${key}/${index}`;
      return sendMessage(request, message, { idempotencyKey, body: items[index], span });
    });
    // What was checked can still fail, such as by a suppression.
    const failed = results.find((result) => result instanceof Fault);
    if (!isPermissive && failed instanceof Fault && results.every((one) => one instanceof Fault))
      throw failed;
    const sent = results.flatMap((one) => (one instanceof Fault ? [] : [{ id: one.messageId }]));
    const failures = results.flatMap((one, index) =>
      one instanceof Fault ? [{ index, message: describeError(one, emailNames).message }] : [],
    );
    return ok({ data: sent, ...((isPermissive || failures.length > 0) && { errors: failures }) });
  });
}

function readBatchItem(request: DropInRequest, item: Buffer, now: number): ProviderMessage {
  const { value } = readJson({ ...request, body: item });
  const refusedMembers = ['attachments', 'scheduled_at'].filter(
    (name) => (member(value, name) ?? null) !== null,
  );
  if (refusedMembers.length > 0)
    throw new Fault('VALIDATION_FAILED', {
      details: refusedMembers.map((field) => ({ field, reason: 'isn’t allowed in a batch' })),
    });
  return readEmail(value, undefined, now);
}

/** @throws the first error, if an email of a strict batch has one */
async function checkAll(
  request: DropInRequest,
  messages: readonly (ProviderMessage | Fault)[],
): Promise<void> {
  const checked = await forEach(messages, async (message) => {
    if (message instanceof Fault) throw message;
    await checkUnsent(request, message);
  });
  checked.forEach((result, index) => {
    if (!(result instanceof Fault)) return;
    const { message, details } = describeError(result, emailNames);
    if (details.length === 0) throw result;
    const [first = { field: '', reason: message }] = details;
    throw new Fault(result.code, {
      details: [{ field: `[${index}].${first.field}`, reason: first.reason }],
    });
  });
}

const maxPage = 100;
const defaultPage = 20;

async function listEmails(request: DropInRequest): Promise<DropInAnswer> {
  const { query, services, admission } = request;
  const details: FaultDetail[] = [];
  const read = (name: 'after' | 'before') => {
    const text = query.get(name);
    const id = text === null ? undefined : parseMessageId(text);
    if (text !== null && id === undefined)
      details.push({ field: name, reason: 'is not an email’s ID' });
    return id;
  };
  const [after, before] = [read('after'), read('before')];
  const limit = Number(query.get('limit') ?? defaultPage);
  if (!Number.isInteger(limit) || limit < 1 || limit > maxPage)
    details.push({ field: 'limit', reason: `must be a number from 1 to ${maxPage}` });
  if (after !== undefined && before !== undefined)
    details.push({ field: 'before', reason: 'can’t be used together with after' });
  if (details.length > 0) throw new Fault('VALIDATION_FAILED', { details });
  // Newest first, so what comes after an email in the list was sent before it.
  const page = { before: after, after: before, limit: limit + 1 };
  const rows = await readSentPage(services.database.kysely, admission.account.id, page);
  const shown = before === undefined ? rows.slice(0, limit) : rows.slice(-limit);
  const sent = await describeSent(request, shown);
  return ok({ object: 'list', has_more: rows.length > limit, data: sent.map(viewEmail) });
}

function viewEmail(message: SentMessage) {
  const { content } = message;
  return {
    id: message.id,
    message_id: message.mailId,
    to: message.to,
    from: message.from,
    created_at: message.acceptedAt.toISOString(),
    subject: message.subject,
    bcc: orNull(message.bcc),
    cc: orNull(message.cc),
    reply_to: orNull(message.replyTo),
    last_event:
      message.state === 'queued' && isAhead(content?.sendAt) ? 'scheduled' : states[message.state],
    scheduled_at: content?.sendAt ?? null,
  };
}

function viewDetail(message: SentMessageDetail) {
  const { html, text, events, content } = message;
  const attributes = Object.entries(content?.attributes ?? {});
  const later = events.findLast(({ kind }) => Object.hasOwn(laterEvents, kind));
  const view = viewEmail(message);
  return {
    object: 'email',
    ...view,
    html,
    text,
    tags: attributes.map(([name, value]) => ({ name, value })),
    last_event: later === undefined ? view.last_event : laterEvents[later.kind],
  };
}

const states: Readonly<Record<MessageState, string>> = {
  queued: 'queued',
  sending: 'sent',
  deferred: 'delivery_delayed',
  delivered: 'delivered',
  bounced: 'bounced',
  expired: 'failed',
  failed: 'failed',
  uncertain: 'sent',
  suppressed: 'suppressed',
  canceled: 'canceled',
};

/** What happens to a delivered email. */
const laterEvents: Readonly<Record<string, string>> = {
  opened: 'opened',
  clicked: 'clicked',
  complained: 'complained',
  bounced: 'bounced',
};

function isAhead(time: string | undefined): boolean {
  return time !== undefined && Date.parse(time) > Date.now();
}

function orNull<Item>(list: readonly Item[]): readonly Item[] | null {
  return list.length === 0 ? null : list;
}

async function moveEmail(request: DropInRequest): Promise<DropInAnswer> {
  const now = request.services.clock.now();
  const details: FaultDetail[] = [];
  const { scheduled_at: text } = updateMembers.read(readJson(request).value);
  const time = readSchedule(text, now, details);
  if (text === undefined) details.push({ field: 'scheduled_at', reason: 'is required' });
  const sendAt = time === undefined ? undefined : checkSendAt(time, now);
  if (sendAt !== undefined && !(sendAt instanceof Date))
    details.push({ field: 'scheduled_at', reason: sendAt.reason });
  if (!(sendAt instanceof Date)) throw new Fault('VALIDATION_FAILED', { details });
  return changeSchedule(request, 'schedule_move', (store, selection, commitWith) =>
    store.move(selection, sendAt, commitWith),
  );
}

function cancelEmail(request: DropInRequest): Promise<DropInAnswer> {
  return changeSchedule(request, 'schedule_cancel', (store, selection, commitWith) =>
    store.cancel(selection, commitWith),
  );
}

/** Changes the messages of an email to all its recipients. */
async function changeSchedule(
  request: DropInRequest,
  kind: 'schedule_move' | 'schedule_cancel',
  change: (
    store: ScheduleStore,
    ...given: Parameters<ScheduleStore['cancel']>
  ) => ReturnType<ScheduleStore['cancel']>,
): Promise<DropInAnswer> {
  const { services, admission, origin } = request;
  const message = await findSentMessage(request, idOf(request));
  const accountId = admission.account.id;
  const store = new ScheduleStore(services.database);
  let changed = 0;
  for (const messageId of await findTogether(request, message)) {
    const result = await change(store, { accountId, messageId }, (transaction) =>
      recordAuditEvent(transaction, {
        kind,
        accountId,
        clientId: admission.clientId,
        origin,
        detail: { id: messageId },
      }),
    );
    changed += result.changed;
  }
  if (changed === 0)
    throw new DropInRefusal('CONFLICT', 'The email isn’t scheduled, or is being sent already.');
  return ok({ object: 'email', id: message.id });
}

async function listDomains({ services, admission }: DropInRequest): Promise<DropInAnswer> {
  const domains = await readSendingDomains(services.database.kysely, admission.account.id);
  return ok({ object: 'list', has_more: false, data: domains.map(viewDomain) });
}

async function readDomain(request: DropInRequest): Promise<DropInAnswer> {
  const { services, admission } = request;
  const { kysely } = services.database;
  const domain = await readSendingDomain(kysely, admission.account.id, idOf(request));
  if (domain === undefined)
    throw new DropInRefusal(
      'NOT_FOUND',
      'The account has no such domain; the ID of a domain is its name.',
    );
  const records = await kysely
    .transaction()
    .execute((transaction) => readRecordFindings(services.domains, transaction, domain));
  return ok({
    object: 'domain',
    ...viewDomain(domain),
    records: records.map(({ kind, name, type, value, finding }) => ({
      record: recordNames[kind],
      name,
      type,
      value,
      ttl: 'Auto',
      status:
        finding === undefined ? 'not_started' : finding.state === 'ok' ? 'verified' : 'failed',
      ...(type === 'MX' && { priority: Number.parseInt(value, 10) }),
    })),
  });
}

const recordNames = {
  dkim: 'DKIM',
  spf: 'SPF',
  'from-spf': 'SPF',
  'return-path': 'SPF',
  dmarc: 'DMARC',
  tracking: 'Tracking',
} as const;

function viewDomain({ domain, state, stateAt, trackingHost }: SendingDomain) {
  return {
    id: domain,
    name: domain,
    status: state === 'broken' ? 'failed' : state,
    created_at: stateAt.toISOString(),
    region: 'self-hosted',
    capabilities: { sending: 'enabled', receiving: 'disabled' },
    ...(trackingHost !== undefined && { tracking_subdomain: trackingHost.split('.')[0] }),
  };
}
