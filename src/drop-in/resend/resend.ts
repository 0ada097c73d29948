import { Type } from 'typebox';
import type { SendingDomain } from '../../accounts/sender/sending-domain.ts';
import {
  readSendingDomain,
  readSendingDomains,
} from '../../accounts/sender/sending-domain-store.ts';
import { readRecordFindings } from '../../accounts/sender/sending-domains.ts';
import type { FaultDetail } from '../../base/values/errors.ts';
import { parseMessageId } from '../../base/values/ids.ts';
import type { MessageState } from '../../content/message/message-state.ts';
import { htmlText } from '../../content/template/html-text.ts';
import { kibibyte, mebibyte } from '../../host/http/limits/route-limits.ts';
import { checkSendAt } from '../../sending/submission/delivery-timing.ts';
import { type DropInRequest, defineDropIn, ok, withAttachments } from '../provider/drop-in.ts';
import type { DropInError, ErrorTable } from '../provider/drop-in-errors.ts';
import { DropInRefusal, describeError } from '../provider/drop-in-errors.ts';
import { namesOf, type ProviderMessage, toMessage } from '../provider/mail.ts';
import {
  Address,
  attributesNote,
  headersNote,
  invalidMember,
  MemberTable,
  readNumber,
  Short,
  shape,
  tablesWith,
} from '../provider/members.ts';
import { readMailboxes } from '../provider/read-mailboxes.ts';
import { attachmentsIn, type ProviderJson } from '../provider/sending.ts';
import { readSentPage } from '../provider/sent-message-store.ts';
import type { SentMessage } from '../provider/sent-messages.ts';

const fileTable = new MemberTable({
  content: 'text',
  filename: 'text: is required',
  content_type: 'text: is derived from the extension of `filename` if it is absent',
  content_id: 'text',
  path: 'refused: isn’t supported, because Signalpost fetches no files; send their content',
});
const tagTable = new MemberTable({ name: 'text', value: 'text' });

const Variables = Type.Unsafe<Readonly<Record<string, string | number>>>({
  type: 'object',
  additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number' }] },
});
const variables = shape(Variables, (given): Readonly<Record<string, string>> => {
  return Object.fromEntries(Object.entries(given).map(([name, one]) => [name, String(one)]));
});
const templateTable = tablesWith({ variables })({
  id: 'short: is the ID of a published template of the account; `signalpost import` makes it the alias, or Resend’s ID',
  variables: 'variables: become values of its fields, numbers as text',
});

const relativeTime = /^in (\d{1,5}) ?(min|minute|hour|h|day)s?$/i;
const unitMinutes = new Map(Object.entries({ min: 1, minute: 1, h: 60, hour: 60, day: 1_440 }));

/** A time that can depend on when its request came, in milliseconds since the epoch. */
const schedule = shape(Short, (text, place) => {
  const [, count, unit = ''] = relativeTime.exec(text.trim()) ?? [];
  const ahead = Number(count) * (unitMinutes.get(unit.toLowerCase()) ?? 0) * 60_000;
  const time = Date.parse(/[zZ]|[+-]\d{2}:?\d{2}$/.test(text) ? text : 'no time');
  if (count === undefined && Number.isNaN(time))
    place.refuse('must be a time such as 2026-01-31T12:00:00Z or in 5 minutes');
  else return (now: number) => new Date(count === undefined ? time : now + ahead).toISOString();
  return undefined;
});

const emailMembers = {
  from: 'mailbox',
  to: 'mailboxes',
  cc: 'mailboxes',
  bcc: 'mailboxes',
  reply_to: 'mailboxes: needs verified senders',
  subject: 'text',
  html: 'text',
  text: 'text: is derived from `html` if it is absent, as Resend does, and left out if it is empty',
  headers: `texts: ${headersNote}`,
  attachments: 'files',
  tags: `tags as attributes: ${attributesNote}`,
  scheduled_at:
    'schedule as sendAt: is an ISO 8601 time with an offset, or `in 5 minutes`, `in 2 hours` or `in 3 days`; up to 365 days ahead',
  template: 'template',
  topic_id: 'refused: isn’t supported, because Signalpost has no topics',
} as const;
const table = tablesWith({
  mailboxes: shape(Type.Union([Address, Type.Array(Address, { maxItems: 50 })]), readMailboxes),
  files: fileTable.asList({ required: ['filename', 'content'] }),
  tags: tagTable.asPairs(),
  schedule,
  template: templateTable.asObject('id'),
});
const emailTable = table(emailMembers);
const notInBatch = 'refused: isn’t allowed in a batch';
const batchMembers = {
  ...emailMembers,
  attachments: notInBatch,
  scheduled_at: notInBatch,
} as const;
const batchTable = table(batchMembers);
const updateTable = table({ scheduled_at: 'schedule as sendAt' });

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
 * @param place before its members in errors
 * @throws Fault VALIDATION_FAILED with the members of Resend's email
 */
function readEmail(
  { value, contents }: ProviderJson,
  now: number,
  form: Pick<typeof emailTable, 'read'> = emailTable,
  place = '',
): ProviderMessage {
  const details: FaultDetail[] = [];
  const { template, sendAt, ...email } = form.read(value, place, details, 'to');
  const { id: templateId, variables = {} } = template ?? {};
  const derived = email.html === undefined || template ? undefined : htmlText(email.html);
  const values = template && variables;
  const text = email.text ?? derived;
  const mail = { ...email, text, sendAt: sendAt?.(now), templateId, values };
  return toMessage(mail, details, contents);
}

async function sendEmail({ sending, headers, now }: DropInRequest) {
  const message = readEmail(sending.readJson(attachmentsIn('attachments', 'content')), now);
  const { messageId } = await sending.send(message, headers['idempotency-key']);
  return ok({ id: messageId });
}

const maxBatchEmails = 100;

async function sendEmails({ sending, headers, now }: DropInRequest) {
  const isPermissive = headers['x-batch-validation'] === 'permissive';
  return sending.useBatch(maxBatchEmails, async (items) => {
    const placeOf = (index: number) => (isPermissive ? '' : `[${index}].`);
    const messages = items.map((item, index) => () => {
      const json = sending.readJson(undefined, item);
      return readEmail(json, now, batchTable, placeOf(index));
    });
    const namesAt = (index: number) => {
      const names = Object.entries(emailNames);
      return Object.fromEntries(names.map(([member, name]) => [member, placeOf(index) + name]));
    };
    if (!isPermissive) await sending.checkEach(messages, namesAt);
    const { sent, failed } = await sending.sendEach(messages, (index) => items[index]);
    if (!isPermissive && sent.length === 0 && failed[0]) throw failed[0].fault;
    const errors = failed.map(({ fault, index }) => {
      const { message } = describeError(fault, emailNames);
      return { index, message };
    });
    const data = sent.map(({ messageId }) => ({ id: messageId }));
    return ok({ data, ...((isPermissive || errors.length > 0) && { errors }) });
  });
}

async function listEmails({ query, kysely, accountId, sent }: DropInRequest) {
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
  const data = (await sent.describe(shown)).map(viewEmail);
  return ok({ object: 'list', has_more: rows.length > limit, data });
}

function viewEmail({ content, state, ...message }: SentMessage) {
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

async function getEmail({ sent, params }: DropInRequest) {
  const message = await sent.read(params.id);
  const { html, text, events, content } = message;
  const tags = Object.entries(content?.attributes ?? {}).map(([name, value]) => ({ name, value }));
  const later = events.findLast(({ kind }) => laterEvents.includes(kind));
  const view = viewEmail(message);
  const last_event = later?.kind ?? view.last_event;
  return ok({ object: 'email', ...view, html, text, tags, last_event });
}

async function moveEmail(request: DropInRequest) {
  const { sending, now } = request;
  const { sendAt } = updateTable.read(sending.readJson().value, '', undefined, 'sendAt');
  const time = checkSendAt(sendAt?.(now) ?? '', now);
  if (time instanceof Date) return changeEmail(request, time);
  throw invalidMember('scheduled_at', time.reason);
}

/** Moves or cancels the messages of an email to all its recipients. */
async function changeEmail({ sent, params }: DropInRequest, sendAt?: Date) {
  const message = await sent.find(params.id);
  let changed = 0;
  for (const messageId of await sent.findTogether(message))
    changed += await sent.changeSchedule({ messageId }, sendAt);
  if (changed > 0) return ok({ object: 'email', id: message.id });
  throw new DropInRefusal('CONFLICT', 'The email isn’t scheduled, or is being sent already.');
}

async function listDomains({ kysely, accountId }: DropInRequest) {
  const domains = await readSendingDomains(kysely, accountId);
  return ok({ object: 'list', has_more: false, data: domains.map(viewDomain) });
}

async function getDomain({ services, kysely, accountId, params }: DropInRequest) {
  const domain = await readSendingDomain(kysely, accountId, params.id ?? '');
  const reason = 'The account has no such domain; the ID of a domain is its name.';
  if (domain === undefined) throw new DropInRefusal('NOT_FOUND', reason);
  const found = await kysely
    .transaction()
    .execute((transaction) => readRecordFindings(services.domains, transaction, domain));
  const records = found.map(({ kind, name, type, value, finding }) => ({
    record: recordNames[kind],
    name,
    type,
    value,
    ttl: 'Auto',
    status: finding === undefined ? 'not_started' : finding.state === 'ok' ? 'verified' : 'failed',
    ...(type === 'MX' && { priority: Number.parseInt(value, 10) }),
  }));
  return ok({ object: 'domain', ...viewDomain(domain), records });
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
  const isMissing = kind === 'VALIDATION_FAILED' && details.some(isRequired);
  const [statusCode, name] = isKey
    ? ([400, 'invalid_idempotency_key'] as const)
    : (errorNames[kind] ?? [422, isMissing ? 'missing_required_field' : 'validation_error']);
  return ok({ statusCode, name, message }, statusCode);
}

function isRequired({ reason }: FaultDetail): boolean {
  return reason === 'is required';
}

/** Some SDKs send no body, other clients send `{}`. */
const smallBody = { bodyBytes: 4 * kibibyte };

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
      ...smallBody,
      members: { '': updateTable },
    },
    'POST /emails/:id/cancel queue:control: cancel a scheduled email': {
      answer: (request) => changeEmail(request),
      ...smallBody,
    },
    'GET /domains? domains:read: list the account’s sending domains': listDomains,
    'GET /domains/:id? domains:read: read a domain and its DNS records; its ID is its name':
      getDomain,
  },
  describeError: describeResendError,
  environment: (url, key) => ({ RESEND_API_KEY: key, RESEND_BASE_URL: url }),
});
