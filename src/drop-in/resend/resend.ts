import { Type } from 'typebox';
import type { SendingDomain } from '../../accounts/sender/sending-domain.ts';
import {
  readSendingDomain,
  readSendingDomains,
} from '../../accounts/sender/sending-domain-store.ts';
import { readRecordFindings } from '../../accounts/sender/sending-domains.ts';
import { Fault, type FaultDetail } from '../../base/values/errors.ts';
import { parseMessageId } from '../../base/values/ids.ts';
import type { MessageState } from '../../content/message/message-state.ts';
import { htmlText } from '../../content/template/html-text.ts';
import { formatBytes, mebibyte } from '../../host/http/limits/route-limits.ts';
import { checkSendAt } from '../../sending/submission/delivery-timing.ts';
import { forEach } from '../../sending/submission/for-each.ts';
import { type BodyJson, member } from '../../sending/submission/read-body-json.ts';
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
import {
  attributesNote,
  headersNote,
  invalidMembers,
  MemberTable,
  mapped,
  namesOf,
  readNumber,
  supported,
  toPairs,
} from '../provider/members.ts';
import { readMailbox, readMailboxes } from '../provider/read-mailboxes.ts';
import {
  describeSent,
  findSentMessage,
  findTogether,
  readSentMessage,
  type SentMessage,
  type SentMessageDetail,
} from '../provider/read-sent-message.ts';
import {
  attachmentsIn,
  checkUnsent,
  type ProviderMessage,
  readJson,
  sendMessage,
  toFile,
  toMessage,
  useBatch,
} from '../provider/send-messages.ts';
import { readSentPage } from '../provider/sent-message-store.ts';

const Address = Type.String({ maxLength: 2_000 });
const Addresses = Type.Union([Address, Type.Array(Address, { maxItems: 50 })]);

const emailTable = new MemberTable({
  from: 'address',
  to: supported(Addresses),
  cc: supported(Addresses),
  bcc: supported(Addresses),
  reply_to: mapped(Addresses, 'needs verified senders'),
  subject: 'text',
  html: 'text',
  text: 'text: is derived from `html` if it is absent, as Resend does, and left out if it is empty',
  headers: `texts: ${headersNote}`,
  attachments: 'list',
  tags: `list: ${attributesNote}`,
  scheduled_at:
    'short: is an ISO 8601 time with an offset, or `in 5 minutes`, `in 2 hours` or `in 3 days`; up to 365 days ahead',
  template: 'object',
  topic_id: 'refused: isn’t supported, because Signalpost has no topics',
});
const maxBufferBodyBytes = 4 * mebibyte;
const fileTable = new MemberTable({
  content: `text: is Base64; a Buffer as Node writes it to JSON is taken in a body of up to ${formatBytes(maxBufferBodyBytes)}`,
  filename: 'text: is required',
  content_type: 'text: is derived from the extension of `filename` if it is absent',
  content_id: 'text',
  path: 'refused: isn’t supported, because Signalpost fetches no files; send their content',
});
const tagTable = new MemberTable({ name: 'text', value: 'text' });
const templateTable = new MemberTable({
  id: 'short: is the ID of a published template of the account; `signalpost import` makes it the alias, or Resend’s ID',
  variables: mapped(
    Type.Unsafe<Readonly<Record<string, string | number>>>({
      type: 'object',
      additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    }),
    'become values of its fields, numbers as text',
  ),
});

const emailMembers = {
  '': emailTable,
  'attachments[]': fileTable,
  'tags[]': tagTable,
  template: templateTable,
};

/** The members of Resend's email by those of the send body. */
const emailNames = namesOf({
  replyTo: 'reply_to',
  envelope: 'to, cc and bcc',
  content: 'html or text',
  values: 'template.variables',
  attributes: 'tags',
  sendAt: 'scheduled_at',
  templateId: 'template.id',
  idempotencyKey: 'Idempotency-Key',
});

/**
 * Translates an email of Resend's API.
 * @param contents of its attachments, by their placeholders
 * @throws Fault VALIDATION_FAILED with the members of Resend's email
 */
function readEmail(value: unknown, contents: BodyJson['contents'], now: number): ProviderMessage {
  const { from, subject, html, text, headers, template, ...email } = emailTable.read(value);
  const details: FaultDetail[] = [];
  const list = (name: 'to' | 'cc' | 'bcc' | 'reply_to') =>
    readMailboxes(email[name], name, details);
  const to = list('to');
  if (to.length === 0) details.push({ field: 'to', reason: 'is required' });
  const tags = tagTable.readEach(email.tags, 'tags', details);
  const pairs = tags?.map((tag) => [tag.name, tag.value] as const);
  const files = fileTable.readEach(
    email.attachments,
    'attachments',
    details,
    'filename',
    'content',
  );
  const stored = template && templateTable.read(template, 'template.');
  if (stored !== undefined && stored.id === undefined)
    details.push({ field: 'template.id', reason: 'is required' });
  const values = Object.entries(stored?.variables ?? {}).map(([name, one]) => [name, String(one)]);
  const mail = {
    from: from === undefined ? undefined : readMailbox(from, 'from', details),
    to,
    cc: list('cc'),
    bcc: list('bcc'),
    replyTo: list('reply_to'),
    subject,
    html,
    text: text ?? (html === undefined || stored !== undefined ? undefined : htmlText(html)),
    headers,
    attachments: files?.map((file) =>
      toFile(contents, file.filename, file.content, file.content_type, file.content_id),
    ),
    attributes: toPairs(pairs, ['tags', 'name'], details),
    sendAt: readSchedule(email.scheduled_at, now, details),
    templateId: stored?.id,
    values: stored && Object.fromEntries(values),
  };
  return toMessage(mail, details);
}

const relativeTime = /^in (\d{1,5}) ?(min|minute|hour|h|day)s?$/i;
const unitMinutes: Readonly<Record<string, number>> = {
  min: 1,
  minute: 1,
  h: 60,
  hour: 60,
  day: 1_440,
};

/** The send time as the send operation takes it. @param now milliseconds since the epoch */
function readSchedule(
  text: string | undefined,
  now: number,
  details: FaultDetail[],
): string | undefined {
  if (text === undefined) return undefined;
  const [, count, unit = ''] = relativeTime.exec(text.trim()) ?? [];
  const time =
    count === undefined
      ? Date.parse(/[zZ]|[+-]\d{2}:?\d{2}$/.test(text) ? text : 'no time')
      : now + Number(count) * (unitMinutes[unit.toLowerCase()] ?? 0) * 60_000;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  const reason = 'must be a time such as 2026-01-31T12:00:00Z or in 5 minutes';
  details.push({ field: 'scheduled_at', reason });
  return undefined;
}

const maxBatchEmails = 100;
const smallBodyBytes = 4 * 1_024;

const updateMembers = new MemberTable({ scheduled_at: 'short' });

const calls: readonly DropInCall[] = [
  on(
    'POST /emails messages:send: send an email, now or later, from its content or a template',
    sendEmail,
    {
      ...withAttachments,
      members: emailMembers,
      names: emailNames,
    },
  ),
  on(
    `POST /emails/batch messages:send: send up to ${maxBatchEmails} emails, without attachments; strict or permissive`,
    sendBatch,
    { bodyBytes: 10 * mebibyte, names: emailNames },
  ),
  on('GET /emails messages:read: list emails, newest first, one for each recipient', listEmails, {
    query: ['after', 'before', 'limit'],
  }),
  on(
    'GET /emails/:id messages:read: read an email and its last event',
    async (request) => ok(viewDetail(await readSentMessage(request, idOf(request)))),
    { query: [] },
  ),
  on('PATCH /emails/:id queue:control: move a scheduled email', moveEmail, {
    bodyBytes: smallBodyBytes,
    members: { '': updateMembers },
  }),
  // The SDK sends no body, other clients send `{}`.
  on(
    'POST /emails/:id/cancel queue:control: cancel a scheduled email',
    (request) => changeEmail(request),
    {
      bodyBytes: smallBodyBytes,
    },
  ),
  on('GET /domains domains:read: list the account’s sending domains', listDomains, { query: [] }),
  on(
    'GET /domains/:id domains:read: read a domain and its DNS records; its ID is its name',
    readDomain,
    { query: [] },
  ),
];

/** Resend's API (https://resend.com/docs/api-reference), as version 6 of its SDK calls it. */
export const resend = defineDropIn({
  name: 'resend',
  title: 'Resend',
  keyOf: ({ authorization = '' }) => /^bearer +(\S+) *$/i.exec(authorization)?.[1],
  calls,
  describeError: describeResendError,
  environment: (url, key) => ({ RESEND_API_KEY: key, RESEND_BASE_URL: url }),
});

/** Status and name of errors as Resend documents them; others are a `validation_error`. */
const errors: Partial<
  Readonly<Record<DropInError['kind'], readonly [status: number, name: string]>>
> = {
  MISSING_KEY: [401, 'missing_api_key'],
  UNAUTHORIZED: [403, 'invalid_api_key'],
  MISSING_PERMISSION: [401, 'restricted_api_key'],
  ACCOUNT_SUSPENDED: [403, 'invalid_access'],
  UNSUPPORTED_CALL: [404, 'not_found'],
  NOT_FOUND: [404, 'not_found'],
  INVALID_ID: [404, 'not_found'],
  SENDER_NOT_ALLOWED: [403, 'validation_error'],
  IDEMPOTENCY_IN_PROGRESS: [409, 'concurrent_idempotent_requests'],
  IDEMPOTENCY_MISMATCH: [409, 'invalid_idempotent_request'],
  QUOTA_EXCEEDED: [429, 'daily_quota_exceeded'],
  IO_EXCEPTION: [503, 'internal_server_error'],
  INTERNAL_ERROR: [500, 'internal_server_error'],
};

function describeResendError({ kind, message, details }: DropInError): DropInAnswer {
  const [status, name] = errors[kind] ?? [422, 'validation_error'];
  const answer = (statusCode: number, errorName: string): DropInAnswer =>
    ok({ statusCode, name: errorName, message }, statusCode);
  if (details.some(({ field }) => /^idempotency-?key$/i.test(field)))
    return answer(400, 'invalid_idempotency_key');
  if (kind === 'VALIDATION_FAILED' && details.some(({ reason }) => reason === 'is required'))
    return answer(status, 'missing_required_field');
  return answer(status, name);
}

function idOf({ params }: DropInRequest): string {
  return params.id ?? '';
}

/** The Buffer of a file, which versions of the SDK before 4 and other programs in JavaScript don't encode. */
const bufferContent = /"content":\{"type":"Buffer","data":\[(\d{1,3}(?:,\d{1,3})*)\]\}/g;

/** Encodes such Buffers. In JSON, the quotes of a text that looks like one are escaped. */
function encodeBuffers(body: Buffer): Buffer {
  if (body.length > maxBufferBodyBytes || !body.includes('{"type":"Buffer"')) return body;
  const encode = (_: string, list: string): string =>
    `"content":"${Buffer.from(Uint8Array.from(list.split(','), Number)).toString('base64')}"`;
  return Buffer.from(body.toString('latin1').replaceAll(bufferContent, encode), 'latin1');
}

async function sendEmail(request: DropInRequest): Promise<DropInAnswer> {
  const { services, headers, body, span } = request;
  // A repetition is found by its bytes, which decoding its attachments overwrites.
  const idempotencyKey = headers['idempotency-key'];
  const encoded = { ...request, body: encodeBuffers(body) };
  const { value, contents } = readJson(encoded, attachmentsIn('attachments', 'content'));
  const message = readEmail(value, contents, services.clock.now());
  const { messageId } = await sendMessage(request, message, { idempotencyKey, body, span });
  return ok({ id: messageId });
}

function sendBatch(request: DropInRequest): Promise<DropInAnswer> {
  const { services, headers, span } = request;
  const isPermissive = headers['x-batch-validation'] === 'permissive';
  const key = headers['idempotency-key'];
  return useBatch(request, maxBatchEmails, async (items) => {
    const now = services.clock.now();
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
    throw invalidMembers(
      refusedMembers.map((field) => ({ field, reason: 'isn’t allowed in a batch' })),
    );
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
  const limit = readNumber(['limit', query.get('limit')], [1, maxPage], defaultPage);
  if (after !== undefined && before !== undefined)
    details.push({ field: 'before', reason: 'can’t be used together with after' });
  if (details.length > 0) throw invalidMembers(details);
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
  if (!(sendAt instanceof Date)) throw invalidMembers(details);
  return changeEmail(request, sendAt);
}

/** Moves or cancels the messages of an email to all its recipients. */
async function changeEmail(request: DropInRequest, sendAt?: Date): Promise<DropInAnswer> {
  const message = await findSentMessage(request, idOf(request));
  let changed = 0;
  for (const messageId of await findTogether(request, message))
    changed += await changeSchedule(request, { messageId }, sendAt);
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
