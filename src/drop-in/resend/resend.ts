import { Type } from 'typebox';
import type { SendingDomain } from '../../accounts/sender/sending-domain.ts';
import * as domainStore from '../../accounts/sender/sending-domain-store.ts';
import { readRecordFindings } from '../../accounts/sender/sending-domains.ts';
import { Fault, type FaultDetail } from '../../base/values/errors.ts';
import { parseMessageId } from '../../base/values/ids.ts';
import type { MessageState } from '../../content/message/message-state.ts';
import { htmlText } from '../../content/template/html-text.ts';
import { formatBytes, mebibyte } from '../../host/http/limits/route-limits.ts';
import { checkSendAt } from '../../sending/submission/delivery-timing.ts';
import { member } from '../../sending/submission/read-body-json.ts';
import { type DropInRequest, defineDropIn, ok, withAttachments } from '../provider/drop-in.ts';
import type { DropInError, ErrorTable } from '../provider/drop-in-errors.ts';
import { DropInRefusal, describeError } from '../provider/drop-in-errors.ts';
import { namesOf, type ProviderMessage, toMessage } from '../provider/mail.ts';
import type { Texts } from '../provider/members.ts';
import { MemberTable, mapValues, notes, schemas, shape, tablesWith } from '../provider/members.ts';
import { invalidMember, invalidMembers, readNumber } from '../provider/place.ts';
import { readMailboxes } from '../provider/read-mailboxes.ts';
import * as sending from '../provider/sending.ts';
import { readSentPage } from '../provider/sent-message-store.ts';
import * as sent from '../provider/sent-messages.ts';

const relativeTime = /^in (\d{1,5}) ?(min|minute|hour|h|day)s?$/i;
const unitMinutes = new Map(Object.entries({ min: 1, minute: 1, h: 60, hour: 60, day: 1_440 }));

const Variables = Type.Unsafe<Readonly<Record<string, string | number>>>({
  type: 'object',
  additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number' }] },
});
const Mailboxes = Type.Union([schemas.address, Type.Array(schemas.address, { maxItems: 50 })]);
const maxBufferBodyBytes = 4 * mebibyte;
const fileTable = new MemberTable({
  content: `text: is Base64; a Buffer as Node writes it to JSON is taken in a body of up to ${formatBytes(maxBufferBodyBytes)}`,
  filename: 'text: is required',
  content_type: 'text: is derived from the extension of `filename` if it is absent',
  content_id: 'text',
  path: 'refused: isn’t supported, because Signalpost fetches no files; send their content',
});
const tagTable = new MemberTable({ name: 'text', value: 'text' });
const table = tablesWith({
  mailboxes: shape(Mailboxes, readMailboxes),
  variables: shape(Variables, (given) => mapValues(given, String)),
  tags: tagTable.asPairs(),
  /** Can depend on when its request came, in milliseconds since the epoch. */
  time: shape(schemas.short, (text, place) => {
    const [, count, unit = ''] = relativeTime.exec(text.trim()) ?? [];
    const ahead = Number(count) * (unitMinutes.get(unit.toLowerCase()) ?? 0) * 60_000;
    const time = Date.parse(/[zZ]|[+-]\d{2}:?\d{2}$/.test(text) ? text : 'no time');
    const isWrong = count === undefined && Number.isNaN(time);
    place.refuseIf(isWrong, 'must be a time such as 2026-01-31T12:00:00Z or in 5 minutes');
    return (now: number) => new Date(count === undefined ? time || 0 : now + ahead).toISOString();
  }),
});
const templateTable = table({
  id: 'short: is the ID of a published template of the account; `signalpost import` makes it the alias, or Resend’s ID',
  variables: 'variables: become values of its fields, numbers as text',
});
const emailTable = table({
  from: 'mailbox',
  to: 'mailboxes',
  cc: 'mailboxes',
  bcc: 'mailboxes',
  reply_to: 'mailboxes: needs verified senders',
  subject: 'text',
  html: 'text',
  text: 'text: is derived from `html` if it is absent, as Resend does, and left out if it is empty',
  headers: `texts: ${notes.headers}`,
  attachments: fileTable.asList({ required: ['filename', 'content'] }),
  tags: `tags as attributes: ${notes.attributes}`,
  scheduled_at:
    'time as sendAt: is an ISO 8601 time with an offset, or `in 5 minutes`, `in 2 hours` or `in 3 days`; up to 365 days ahead',
  template: templateTable.asObject('id'),
  topic_id: 'refused: isn’t supported, because Signalpost has no topics',
});
const updateTable = table({ scheduled_at: 'time as sendAt' });

/** The members of Resend's email by those of the send body. */
const emailNames = namesOf({
  ...emailTable.names,
  envelope: 'to, cc and bcc',
  content: 'html or text',
  values: 'template.variables',
  templateId: 'template.id',
  idempotencyKey: 'Idempotency-Key',
});

/**
 * Translates an email of Resend's API.
 * @throws Fault VALIDATION_FAILED with the members of Resend's email
 */
function readEmail({ value, contents }: sending.ProviderJson, now: number): ProviderMessage {
  const details: FaultDetail[] = [];
  const { template, sendAt, ...email } = emailTable.read(value, '', details, 'to');
  const { id: templateId, variables = {} } = template ?? {};
  const derived = email.html === undefined || template ? undefined : htmlText(email.html);
  const [text, values] = [email.text ?? derived, template && variables];
  const mail = { ...email, text, sendAt: sendAt?.(now), templateId, values };
  return toMessage(mail, details, contents);
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

const filePlaces = sending.attachmentsIn('attachments', 'content');

async function sendEmail(request: DropInRequest) {
  const { headers, body, now } = request;
  const email = readEmail(sending.readJson(request, filePlaces, encodeBuffers(body)), now);
  const { messageId } = await sending.sendMessage(request, email, headers['idempotency-key']);
  return ok({ id: messageId });
}

const maxBatchEmails = 100;

async function sendEmails(request: DropInRequest) {
  const isPermissive = request.headers['x-batch-validation'] === 'permissive';
  return sending.useBatch(request, maxBatchEmails, async (items) => {
    const messages = items.map((item) => () => readBatchItem(request, item));
    const wrong = isPermissive ? undefined : await sending.checkEach(request, messages);
    if (wrong !== undefined) throw nameFirst(wrong);
    const { sent, failed } = await sending.sendEach(request, messages, (index) => items[index]);
    if (!isPermissive && sent.length === 0 && failed[0]) throw failed[0].fault;
    const errors = failed.map(({ fault, index }) => {
      const { message } = describeError(fault, emailNames);
      return { index, message };
    });
    const data = sent.map(({ messageId }) => ({ id: messageId }));
    return ok({ data, ...((isPermissive || errors.length > 0) && { errors }) });
  });
}

function readBatchItem(request: DropInRequest, item: Buffer): ProviderMessage {
  const json = sending.readJson(request, undefined, item);
  const isGiven = (name: string) => member(json.value, name) != null;
  const refused = ['attachments', 'scheduled_at'].filter(isGiven);
  if (refused.length === 0) return readEmail(json, request.now);
  throw invalidMembers(refused.map((field) => ({ field, reason: 'isn’t allowed in a batch' })));
}

/** The first problem of an email, with its place in the batch. */
function nameFirst({ fault, index }: sending.FailedMessage): Fault {
  const [first] = describeError(fault, emailNames).details;
  if (first === undefined) return fault;
  const details = [{ field: `[${index}].${first.field}`, reason: first.reason }];
  return new Fault(fault.code, { details });
}

async function listEmails(request: DropInRequest) {
  const { query, kysely, accountId } = request;
  const [after, before] = ['after', 'before'].map((name) => {
    const text = query.get(name);
    const id = text === null ? undefined : parseMessageId(text);
    if (text !== null && id === undefined) throw invalidMember(name, 'is not an email’s ID');
    return id;
  });
  const limit = readNumber(['limit', query.get('limit')], [1, 100], 20);
  if (after !== undefined && before !== undefined)
    throw invalidMember('before', 'can’t be used together with after');
  // Newest first, so what comes after an email in the list was sent before it.
  const page = { before: after, after: before, limit: limit + 1 };
  const rows = await readSentPage(kysely, accountId, page);
  const shown = before === undefined ? rows.slice(0, limit) : rows.slice(-limit);
  const data = (await sent.describeSent(request, shown)).map(viewEmail);
  return ok({ object: 'list', has_more: rows.length > limit, data });
}

function viewEmail({ content, state, ...message }: sent.SentMessage) {
  const sendAt = content?.sendAt;
  const isAhead = sendAt !== undefined && Date.parse(sendAt) > Date.now();
  const orNull = (list: readonly string[]) => (list.length === 0 ? null : list);
  return {
    id: message.id,
    message_id: message.mailId,
    to: message.to,
    from: message.from,
    created_at: message.accepted_at.toISOString(),
    subject: message.subject,
    bcc: orNull(message.bcc),
    cc: orNull(message.cc),
    reply_to: orNull(message.replyTo),
    last_event: state === 'queued' && isAhead ? 'scheduled' : (lastEvents[state] ?? state),
    scheduled_at: sendAt ?? null,
  };
}

/** Where Resend has another word. */
const lastEvents: Partial<Readonly<Record<MessageState, string>>> = {
  sending: 'sent',
  deferred: 'delivery_delayed',
  expired: 'failed',
  uncertain: 'sent',
};
/** What happens to a delivered email. */
const laterEvents: readonly string[] = ['opened', 'clicked', 'complained', 'bounced'];

async function getEmail(request: DropInRequest) {
  const message = await sent.readSentMessage(request, request.params.id);
  const { html, text, events, content } = message;
  const tags = Object.entries(content?.attributes ?? {}).map(([name, value]) => ({ name, value }));
  const later = events.findLast(({ kind }) => laterEvents.includes(kind));
  const view = viewEmail(message);
  const last_event = later?.kind ?? view.last_event;
  return ok({ object: 'email', ...view, html, text, tags, last_event });
}

async function moveEmail(request: DropInRequest) {
  const { now } = request;
  const { sendAt } = updateTable.read(sending.readJson(request).value, '', undefined, 'sendAt');
  const time = checkSendAt(sendAt?.(now) ?? '', now);
  if (time instanceof Date) return changeEmail(request, time);
  throw invalidMember('scheduled_at', time.reason);
}

/** Moves or cancels the messages of an email to all its recipients. */
async function changeEmail(request: DropInRequest, sendAt?: Date) {
  const message = await sent.find(request, request.params.id);
  let changed = 0;
  for (const messageId of await sent.findTogether(request, message))
    changed += await sent.changeSchedule(request, { messageId }, sendAt);
  if (changed > 0) return ok({ object: 'email', id: message.id });
  throw new DropInRefusal('CONFLICT', 'The email isn’t scheduled, or is being sent already.');
}

async function listDomains({ kysely, accountId }: DropInRequest) {
  const domains = await domainStore.readSendingDomains(kysely, accountId);
  return ok({ object: 'list', has_more: false, data: domains.map(viewDomain) });
}

async function getDomain({ services, kysely, accountId, params }: DropInRequest) {
  const domain = await domainStore.readSendingDomain(kysely, accountId, params.id ?? '');
  const reason = 'The account has no such domain; the ID of a domain is its name.';
  if (domain === undefined) throw new DropInRefusal('NOT_FOUND', reason);
  const found = await kysely
    .transaction()
    .execute((transaction) => readRecordFindings(services.domains, transaction, domain));
  const records = found.map(({ kind, name, type, value, finding }) => ({
    record: recordNames[kind] ?? 'SPF',
    name,
    type,
    value,
    ttl: 'Auto',
    status: finding === undefined ? 'not_started' : finding.state === 'ok' ? 'verified' : 'failed',
    ...(type === 'MX' && { priority: Number.parseInt(value, 10) }),
  }));
  return ok({ object: 'domain', ...viewDomain(domain), records });
}

/** Others are about SPF. */
const recordNames: Texts = { dkim: 'DKIM', dmarc: 'DMARC', tracking: 'Tracking' };

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

/** Status and name of errors as Resend documents them; others are a `validation_error`. */
const errorNames: ErrorTable<readonly [status: number, name: string]> = {
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

function describeResendError({ kind, message, details }: DropInError) {
  const isKey = details.some(({ field }) => /^idempotency-?key$/i.test(field));
  const isMissing =
    kind === 'VALIDATION_FAILED' && details.some(({ reason }) => reason === 'is required');
  const [statusCode, name] = isKey
    ? ([400, 'invalid_idempotency_key'] as const)
    : (errorNames[kind] ?? [422, isMissing ? 'missing_required_field' : 'validation_error']);
  return ok({ statusCode, name, message }, statusCode);
}

/** Resend's API (https://resend.com/docs/api-reference), as version 6 of its SDK calls it. */
export const resend = defineDropIn({
  name: 'resend',
  keyOf: ({ authorization = '' }) => /^bearer +(\S+) *$/i.exec(authorization)?.[1],
  calls: {
    'POST /emails messages:send: send an email, now or later, from its content or a template': {
      answer: sendEmail,
      ...withAttachments,
      members: {
        '': emailTable,
        'attachments[]': fileTable,
        'tags[]': tagTable,
        template: templateTable,
      },
      names: emailNames,
    },
    [`POST /emails/batch messages:send: send up to ${maxBatchEmails} emails, without attachments; strict or permissive`]:
      { answer: sendEmails, bodyBytes: 10 * mebibyte, names: emailNames },
    'GET /emails?after&before&limit messages:read: list emails, newest first, one for each recipient':
      listEmails,
    'GET /emails/:id? messages:read: read an email and its last event': getEmail,
    'PATCH /emails/:id queue:control: move a scheduled email': {
      answer: moveEmail,
      members: { '': updateTable },
    },
    'POST /emails/:id/cancel queue:control: cancel a scheduled email': (request) =>
      changeEmail(request),
    'GET /domains? domains:read: list the account’s sending domains': listDomains,
    'GET /domains/:id? domains:read: read a domain and its DNS records; its ID is its name':
      getDomain,
  },
  describeError: describeResendError,
  environment: (url, key) => ({ RESEND_API_KEY: key, RESEND_BASE_URL: url }),
});
