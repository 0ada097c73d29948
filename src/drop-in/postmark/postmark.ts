import { Type } from 'typebox';
import type { ComparableAddress } from '../../base/values/email-address.ts';
import { Fault, type FaultDetail } from '../../base/values/errors.ts';
import { type MessageId, parseMessageId } from '../../base/values/ids.ts';
import { parseTimestamp } from '../../base/values/parse-timestamp.ts';
import type { StoredContent } from '../../content/message/message-content.ts';
import type { StoredEvent } from '../../content/message/message-status-store.ts';
import { isTestClass } from '../../content/message/test-class.ts';
import type { Suppression, SuppressionReason } from '../../content/suppression/suppression.ts';
import { findSuppressions } from '../../content/suppression/suppression-store.ts';
import { readTemplateFacts } from '../../content/template/template-page-store.ts';
import { mebibyte } from '../../host/http/limits/route-limits.ts';
import { textOf } from '../../outcomes/relay/json-fields.ts';
import { findMessages } from '../../outcomes/report/find-messages-store.ts';
import { readReport } from '../../outcomes/report/read-report-store.ts';
import * as webhook from '../../outcomes/webhook/postmark-webhook.ts';
import { factsOf, type WebhookEvent } from '../../outcomes/webhook/webhook-format.ts';
import { forEach } from '../../sending/submission/for-each.ts';
import { member } from '../../sending/submission/read-body-json.ts';
import type { CallMembers, DropInAnswer, DropInRequest } from '../provider/drop-in.ts';
import { defineDropIn, ok, withAttachments } from '../provider/drop-in.ts';
import type { DropInError, ErrorTable } from '../provider/drop-in-errors.ts';
import { DropInRefusal, describeError } from '../provider/drop-in-errors.ts';
import type { ProviderMessage } from '../provider/mail.ts';
import { namesOf, pascal, toFieldValues, toMessage } from '../provider/mail.ts';
import { MemberTable, notes, only, schemas, shape, tablesWith } from '../provider/members.ts';
import { invalidMember, type Place, readNumber } from '../provider/place.ts';
import { readMailbox, splitMailboxes } from '../provider/read-mailboxes.ts';
import * as sending from '../provider/sending.ts';
import type { SentEvent, SentRow } from '../provider/sent-message-store.ts';
import { readFirstEvents, readSent } from '../provider/sent-message-store.ts';
import * as sent from '../provider/sent-messages.ts';
import * as suppressed from '../provider/suppressed-addresses.ts';

const onlyStream = 'can only be outbound: Signalpost has one stream';
const trackingOptions = ['None', 'HtmlOnly', 'HtmlAndText'];

const dayMs = 24 * 60 * 60 * 1_000;
/** From 1970 on, where IDs begin. */
const yearPattern = /^(?:19[7-9]|[2-9]\d\d)\d-/;
const dayPattern = /^\d{4}-\d\d-\d\d$/;

function readTime(text: string, { field }: Place): Date {
  const isZoned = dayPattern.test(text) || /(?:z|[+-]\d\d:?\d\d)$/i.test(text);
  const time = yearPattern.test(text) ? parseTimestamp(isZoned ? text : `${text}Z`) : undefined;
  if (time !== undefined) return time;
  throw invalidMember(field, 'must be a time such as 2026-01-31 or 2026-01-31T12:00:00');
}

const headerTable = new MemberTable({ Name: 'text', Value: 'text' });
const table = tablesWith({
  headers: headerTable.asPairs(),
  /** Mailboxes in one text; far longer than 150 of them. */
  mailboxes: shape(Type.String({ maxLength: 50_000 }), (text, place) =>
    splitMailboxes(text, place).map((one) => readMailbox(one, place)),
  ),
  /** Programs send empty texts for absent ones. */
  filled: shape(schemas.text, (text) => text || undefined),
  contentId: shape(schemas.text, (id) => id.replace(/^cid:/i, '') || undefined),
  tracking: shape(schemas.short, (option, place) => {
    const isKnown = trackingOptions.includes(option);
    place.refuseIf(!isKnown, `must be one of ${trackingOptions.join(', ')}`);
    return option !== 'None';
  }),
  stream: only('outbound', schemas.short),
  number: shape(Type.Integer(), String),
  model: shape(schemas.object, toFieldValues),
  inlined: only(true, Type.Boolean()),
  count: shape(schemas.short, (text) => readNumber(['count', text], [1, 500], 100)),
  offset: shape(schemas.short, (text) => readNumber(['offset', text], [0, 999_999], 0)),
  time: shape(schemas.short, readTime),
  end: shape(schemas.short, (text, place) => {
    const time = readTime(text, place);
    return dayPattern.test(text) ? new Date(time.getTime() + dayMs) : time;
  }),
  message: shape(schemas.short, (text) => {
    const id = parseMessageId(text);
    if (id === undefined) throw invalidMember('messageID', 'is not the ID of a message');
    return id;
  }),
  type: shape(Type.Enum(['All', 'Standard'])),
  reason: shape(Type.Enum(['HardBounce', 'SpamComplaint', 'ManualSuppression'])),
  origin: shape(Type.Enum(['Recipient', 'Customer', 'Admin'])),
});

const fileTable = table({
  Name: 'text as filename',
  Content: 'text',
  ContentType: 'text: is derived from the extension of `Name` if it is absent',
  ContentID: 'contentId as contentId: may begin with `cid:`; makes it an inline part',
  ContentLength: 'integer: isn’t needed: the length of `Content` counts',
  Disposition: 'refused: isn’t supported; an attachment with ContentID is inline, others aren’t',
});

/** What emails with a content and those from a template share. */
const sharedMembers = {
  From: 'mailbox',
  To: 'mailboxes',
  Cc: 'mailboxes',
  Bcc: 'mailboxes',
  ReplyTo: 'mailboxes: needs verified senders',
  Tag: 'filled: has at most 48 characters',
  Metadata: `texts as attributes: ${notes.attributes}`,
  Headers: `headers: ${notes.headers}`,
  Attachments: fileTable.asList({ required: ['filename', 'content'] }),
  TrackOpens: 'flag: is false by default',
  TrackLinks:
    'tracking as trackClicks: is `None` by default; otherwise the links of the HTML are tracked, and never those of the text',
  MessageStream: `stream: ${onlyStream}`,
} as const;

const contentTable = table({
  ...sharedMembers,
  Subject: 'text',
  HtmlBody: 'filled as html',
  TextBody: 'filled as text',
});
const templatedTable = table({
  ...sharedMembers,
  From: 'mailbox: is the sender of the template if it is absent',
  To: 'mailboxes: is one address; send an email to each',
  TemplateId:
    'number: is the ID of a published template of the account; `signalpost import` makes it the alias, or Postmark’s ID',
  TemplateAlias:
    'short as alias: is the ID of a published template of the account, as `signalpost import` writes it',
  TemplateModel:
    'model as values: becomes values of its fields: numbers and `true` as text, null and `false` as an empty text',
  InlineCss: 'inlined: can only be true: the CSS of a template is inlined when it is published',
});

const emailMembers = { '': contentTable, 'Attachments[]': fileTable, 'Headers[]': headerTable };

/** The members of Postmark's email by those of the send body. */
const memberNames = {
  ...contentTable.names,
  envelope: 'To, Cc and Bcc',
  content: 'HtmlBody or TextBody',
  values: 'TemplateModel',
  templateId: 'TemplateId or TemplateAlias',
};
const postmarkNames = namesOf(memberNames, pascal);

/**
 * Reads an email of Postmark's API.
 * @throws Fault VALIDATION_FAILED with its members
 */
type ReadEmail = (json: sending.ProviderJson) => ProviderMessage;

const readContentEmail: ReadEmail = ({ value, contents }) => {
  const details: FaultDetail[] = [];
  const email = contentTable.read(value, '', details, 'to');
  return toMessage({ subject: '', ...email }, details, contents);
};

const readTemplated: ReadEmail = ({ value, contents }) => {
  const details: FaultDetail[] = [];
  const { alias, templateId, ...email } = templatedTable.read(value, '', details, 'to');
  if ((templateId === undefined) === (alias === undefined))
    details.push({ field: 'TemplateId or TemplateAlias', reason: 'is required, and not both' });
  return toMessage({ ...email, templateId: alias ?? templateId }, details, contents);
};

const maxBatchEmails = 500;
const messagesStart = [/^\s*\{\s*"Messages"\s*:\s*\[/, '{"Messages": […]}'] as const;

const filePlaces = sending.attachmentsIn('Attachments', 'Content');
const deliversSome = 'Message OK, but will not deliver to these inactive addresses';

async function sendEmail(request: DropInRequest, read: ReadEmail, body?: Buffer): Promise<object> {
  const json = sending.readJson(request, filePlaces, body);
  const receipt = await sending.sendMessage(request, read(json)).catch(throwInactive);
  const inactive = receipt.suppressedRecipients.join(', ');
  return {
    To: member(json.value, 'To'),
    Cc: member(json.value, 'Cc'),
    Bcc: member(json.value, 'Bcc'),
    SubmittedAt: new Date(request.now).toISOString(),
    MessageID: receipt.messageId,
    ErrorCode: 0,
    Message: inactive === '' ? 'OK' : `${deliversSome}: ${inactive}`,
  };
}

/** SDKs read the addresses from this sentence. */
function throwInactive(error: unknown): never {
  if (!(error instanceof Fault) || error.code !== 'RECIPIENT_SUPPRESSED') throw error;
  const addresses = error.extra?.suppressedRecipients as readonly string[];
  const reason = `You tried to send to recipients that are suppressed for this account. Found inactive addresses: ${addresses.join(', ')}. Inactive recipients can be reactivated with the suppressions API`;
  throw new Fault('RECIPIENT_SUPPRESSED', { details: [{ field: '', reason }] });
}

function describe(error: unknown) {
  return describePostmarkError(describeError(error, postmarkNames)).body as object;
}

const sendOne = (read: ReadEmail, members: CallMembers) => ({
  answer: async (request: DropInRequest) => ok(await sendEmail(request, read)),
  ...withAttachments,
  members,
  names: postmarkNames,
});

/** Each email has a result of its own. @param start of the body, if it isn't a list */
const sendBatch = (read: ReadEmail, start?: readonly [RegExp, string]) => ({
  answer(request: DropInRequest) {
    const send = (body: Buffer) => sendEmail(request, read, body).catch(describe);
    const sendAll = async (emails: readonly Buffer[]) => ok(await forEach(emails, send));
    return sending.useBatch(request, maxBatchEmails, sendAll, start);
  },
  bodyBytes: 10 * mebibyte,
  names: postmarkNames,
});

const pages = {
  count: 'count: is at most 500, and 100 by default',
  offset: 'offset: is at most 10,000 together with `count`',
} as const;
const times = {
  fromdate: 'time as from: is in UTC unless it has an offset',
  todate: 'end as until: is in UTC unless it has an offset; a day is included',
} as const;
const messagestream = `stream: ${onlyStream}` as const;
const noSearch = 'refused: isn’t supported; search by recipient, tag and time';
const noFilter = 'refused: isn’t supported; all bounces are listed';
const wholeList = 'short: isn’t needed: the whole list is returned';

const templateQuery = table({
  ...pages,
  templatetype: 'type: can’t be `Layout`',
  layouttemplate: 'refused: isn’t supported, because Signalpost has no layouts',
});
const messageQuery = table({
  ...pages,
  ...times,
  messagestream,
  recipient: 'address as address: is a whole address of To or Cc',
  tag: 'text',
  fromemail: noSearch,
  subject: noSearch,
  status: noSearch,
});
const bounceQuery = table({
  ...pages,
  ...times,
  messagestream,
  emailfilter: 'address as address: is a whole address',
  tag: 'text',
  messageid: 'message as messageId',
  type: noFilter,
  inactive: noFilter,
});
const statsQuery = table({ ...times, messagestream, tag: 'text' });
const dumpQuery = table({
  count: wholeList,
  offset: wholeList,
  ...times,
  suppressionreason: 'reason as reason: counts addresses that unsubscribed as `ManualSuppression`',
  origin: 'origin: is `Customer` for manual entries',
  emailaddress: 'address as address',
});

type QueryTable<Given> = CallMembers[string] & { read(value: unknown): Given };

/** A call that gets the parameters of its query. Their case doesn't matter. */
function withQuery<Given>(
  table: QueryTable<Given>,
  answer: (request: DropInRequest, given: Given) => Promise<DropInAnswer>,
) {
  const read = ({ query }: DropInRequest) =>
    table.read(Object.fromEntries([...query].map(([name, value]) => [name.toLowerCase(), value])));
  const members = { query: table };
  return { answer: (request: DropInRequest) => answer(request, read(request)), members };
}

type Given<Table extends QueryTable<unknown>> = ReturnType<Table['read']>;

const maxEnd = 10_000;

/** Where a page begins and ends. One item more is read, which tells whether there is another page. */
function pageOf({ count = 100, offset = 0 }: { count?: number; offset?: number }) {
  const end = count + offset;
  if (end <= maxEnd) return [offset, end] as const;
  throw invalidMember('offset', `and count must not be more than ${maxEnd}`);
}

async function listTemplates(request: DropInRequest, given: Given<typeof templateQuery>) {
  const [start, end] = pageOf(given);
  const all = await readTemplateFacts(request.kysely, request.accountId, { limit: end + 1 });
  const Templates = all
    .slice(start, end)
    .map(({ id, name, publishedVersion }) => viewTemplate(id, name, publishedVersion !== null));
  return ok({ TotalCount: all.length, Templates });
}

function viewTemplate(id: string, Name: string, Active: boolean) {
  const TemplateId = /^[1-9]\d{0,14}$/.test(id) ? Number(id) : 0;
  return { Active, TemplateId, Name, Alias: id, TemplateType: 'Standard', LayoutTemplate: null };
}

async function getTemplate(request: DropInRequest) {
  const { facts, published } =
    (await sending.readTemplate(request, request.params.idOrAlias)) ?? {};
  if (facts === undefined || published === undefined)
    throw unknownId('TemplateId', 'is not the ID or alias of a published template');
  const { subject: Subject, html, mjml, text } = published.source;
  return ok({
    ...viewTemplate(facts.id, facts.name, true),
    AssociatedServerId: 0,
    Subject,
    HtmlBody: html ?? mjml ?? null,
    TextBody: text ?? null,
  });
}

function unknownId(field: string, reason: string): Fault {
  return new Fault('INVALID_ID', { details: [{ field, reason }] });
}

/** Messages of one statement. */
const maxFound = 500;
const maxSearchMs = 1_000;

/** A page of messages, newest first. @throws Fault VALIDATION_FAILED if the search takes too long */
async function findSent(
  { kysely, accountId }: DropInRequest,
  filter: Omit<Parameters<typeof findMessages>[2], 'limit'>,
  [start, end]: ReturnType<typeof pageOf>,
) {
  const ids = new Set<MessageId>();
  const deadline = performance.now() + maxSearchMs;
  let before: MessageId | undefined;
  do {
    if (performance.now() > deadline)
      throw invalidMember('fromdate', 'must be later, to search less');
    const earlier = ids.size;
    const limit = Math.min(maxFound, end + 1 - earlier);
    const { found, next } = await findMessages(kysely, accountId, { ...filter, before, limit });
    for (const { messageId } of found) ids.add(messageId);
    before = next ?? (ids.size - earlier < limit ? undefined : found.at(-1)?.messageId);
  } while (before !== undefined && ids.size <= end);
  return { total: ids.size, rows: await readSent(kysely, accountId, [...ids].slice(start, end)) };
}

async function listMessages(request: DropInRequest, given: Given<typeof messageQuery>) {
  const { total, rows } = await findSent(request, given, pageOf(given));
  const messages = await sent.describeSent(request, rows);
  return ok({ TotalCount: total, Messages: messages.map(viewMessage) });
}

function viewMessage(message: sent.SentMessage) {
  const { content, to, cc, bcc, state } = message;
  const isQueued = state === 'queued' || state === 'deferred' || state === 'sending';
  return {
    MessageID: message.id,
    MessageStream: 'outbound',
    Tag: message.tag ?? '',
    To: to.map(viewMailbox),
    Cc: cc.map(viewMailbox),
    Bcc: bcc.map(viewMailbox),
    Recipients: recipientsOf(content),
    ReceivedAt: message.accepted_at.toISOString(),
    From: message.from,
    Subject: message.subject,
    Attachments: [] as readonly string[],
    Status: isQueued ? 'Queued' : 'Sent',
    TrackOpens: message.track_opens,
    TrackLinks: message.track_clicks ? 'HtmlOnly' : 'None',
    Metadata: content?.attributes ?? {},
    Sandboxed: isTestClass(message.retention_days),
  };
}

function recipientsOf(content: StoredContent | null): readonly string[] {
  return content === null ? [] : [content.to, ...(content.cc ?? [])];
}

/** @param text as `writeMailbox` writes it */
function viewMailbox(text: string) {
  const start = text.lastIndexOf(' <');
  return start === -1
    ? { Email: text, Name: '' }
    : { Email: text.slice(start + 2, -1), Name: text.slice(0, start) };
}

async function getMessage(request: DropInRequest) {
  const message = await sent.readSentMessage(request, request.params.id);
  const { html: HtmlBody, text: TextBody, files: Attachments } = message;
  const MessageEvents = message.events.flatMap((event) => viewEvent(event, message));
  return ok({ ...viewMessage(message), Attachments, HtmlBody, TextBody, MessageEvents });
}

/** What happens to a message, in Postmark's words. */
const eventTypes: Partial<Readonly<Record<StoredEvent['kind'], string>>> = {
  delivered: 'Delivered',
  deferred: 'Transient',
  bounced: 'Bounced',
  expired: 'Bounced',
  complained: 'SpamComplaint',
  unsubscribed: 'SubscriptionChanged',
  opened: 'Opened',
  clicked: 'LinkClicked',
};
const bounceKinds: readonly StoredEvent['kind'][] = ['bounced', 'complained', 'expired'];

function viewEvent(
  { kind, at, recipient, detail }: StoredEvent,
  { id, content }: SentRow,
): object[] {
  const Type = eventTypes[kind];
  if (Type === undefined) return [];
  const { reply, reason } = detail as Readonly<Record<string, unknown>>;
  const text = textOf(reply) || textOf(reason);
  const Details = bounceKinds.includes(kind)
    ? { Summary: text, BounceID: webhook.bounceIdOf(id) }
    : { DeliveryMessage: text };
  const Recipient = recipientsOf(content)[recipient ?? 0] ?? '';
  return [{ Recipient, Type, ReceivedAt: at.toISOString(), Details }];
}

async function listBounces(request: DropInRequest, given: Given<typeof bounceQuery>) {
  const filter = { ...given, state: 'bounced' } as const;
  const { total, rows } = await findSent(request, filter, pageOf(given));
  return ok({ TotalCount: total, Bounces: await describeBounces(request, rows) });
}

/** The first bounce of each message, newest first. */
async function describeBounces(request: DropInRequest, rows: readonly SentRow[]) {
  const { kysely, accountId } = request;
  const ids = rows.map(({ id }) => id);
  const events = await readFirstEvents(kysely, accountId, ids, bounceKinds);
  const messages = new Map((await sent.describeSent(request, rows)).map((one) => [one.id, one]));
  return events.flatMap((event) => {
    const message = messages.get(event.messageId);
    return message === undefined ? [] : [viewBounce(event, message)];
  });
}

function viewBounce({ detail, ...event }: SentEvent, { content, ...message }: sent.SentMessage) {
  const facts = factsOf({
    ...event,
    kind: event.kind as WebhookEvent['kind'],
    detail: detail as Readonly<Record<string, unknown>>,
    templateId: message.template_id,
    tag: message.tag,
    externalId: null,
    attributes: content?.attributes ?? null,
    address: content && (recipientsOf(content)[event.recipient ?? 0] ?? ''),
    envelope: { from: content?.from ?? null, subject: message.subject, sendAt: null },
  });
  return {
    RecordType: 'Bounce',
    ...webhook.describeBounce(facts),
    Tag: message.tag ?? '',
    MessageID: message.id,
    MessageStream: 'outbound',
    ServerID: 0,
  };
}

async function getBounce(request: DropInRequest) {
  const { kysely, accountId, params } = request;
  const id = /^[1-9]\d{0,15}$/.test(params.id ?? '') ? Number(params.id) : 0;
  const from = new Date(webhook.timeOfBounce(id));
  const range = { from, until: new Date(from.getTime() + 1), limit: 500 };
  const { found } = await findMessages(kysely, accountId, range);
  const all = found.map(({ messageId }) => messageId);
  const ids = all.filter((one) => webhook.bounceIdOf(one) === id);
  const [bounce] = await describeBounces(request, await readSent(kysely, accountId, ids));
  if (bounce !== undefined) return ok(bounce);
  throw unknownId('BounceID', 'is not the ID of a bounce');
}

async function getOverview(
  { kysely, accountId, now }: DropInRequest,
  { from = new Date(0), until = new Date(now + dayMs), tag }: Given<typeof statsQuery>,
) {
  const query = { from, until, group: 'none', timeZone: 'UTC', tag } as const;
  const [row] = await readReport(kysely, accountId, query);
  const count = (...names: readonly (keyof NonNullable<typeof row>['counts'])[]) =>
    names.reduce((sum, name) => sum + (row?.counts[name] ?? 0), 0);
  const Sent = count('accepted');
  const Bounced = count('bounced_hard', 'bounced_soft', 'expired');
  const SpamComplaints = count('complained');
  const rate = (part: number) => (Sent === 0 ? 0 : Math.round((part / Sent) * 100_000) / 1_000);
  return ok({
    Sent,
    Bounced,
    SMTPApiErrors: count('failed'),
    BounceRate: rate(Bounced),
    SpamComplaints,
    SpamComplaintsRate: rate(SpamComplaints),
    Opens: count('opened_people'),
    UniqueOpens: count('opened_people_unique'),
    TotalClicks: count('clicked_people'),
    UniqueLinksClicked: count('clicked_people_unique'),
  });
}

const maxAddresses = 50;
const maxDump = 10_000;

const entryTable = table({ EmailAddress: 'address' });
const listTable = table({ Suppressions: entryTable.asList({ maxItems: maxAddresses }) });

/** @throws Fault VALIDATION_FAILED */
function checkStream({ params }: DropInRequest): void {
  if (params.stream !== 'outbound') throw invalidMember('stream', onlyStream);
}

const reasons: Readonly<Record<SuppressionReason, readonly [reason: string, origin: string]>> = {
  hard_bounce: ['HardBounce', 'Recipient'],
  complaint: ['SpamComplaint', 'Recipient'],
  unsubscribe: ['ManualSuppression', 'Recipient'],
  manual: ['ManualSuppression', 'Customer'],
};

const tooLong = `is required, because the list has more than ${maxDump} entries; export them with the management API`;

async function dump(request: DropInRequest, given: Given<typeof dumpQuery>) {
  checkStream(request);
  const { kysely, accountId } = request;
  const { from, until, reason, origin, address } = given;
  const found: readonly Suppression[] =
    address === undefined
      ? await findSuppressions(kysely, accountId, { limit: maxDump + 1 })
      : await suppressed.readEntries(request, {
          address: suppressed.parseAddress(address, 'emailaddress'),
        });
  if (found.length > maxDump) throw invalidMember('emailaddress', tooLong);
  const Suppressions = suppressed
    .current(request, found)
    .filter(({ createdAt }) => from === undefined || from <= createdAt)
    .filter(({ createdAt }) => until === undefined || createdAt < until)
    .map((entry) => {
      const [SuppressionReason, Origin] = reasons[entry.reason];
      const CreatedAt = entry.createdAt.toISOString();
      return { EmailAddress: entry.address, SuppressionReason, Origin, CreatedAt };
    })
    .filter((entry) => reason === undefined || entry.SuppressionReason === reason)
    .filter((entry) => origin === undefined || entry.Origin === origin);
  return ok({ Suppressions });
}

/** A call that changes each address of its body; each has a result of its own. */
const changeEach = (
  Status: 'Suppressed' | 'Deleted',
  change: (request: DropInRequest, address: ComparableAddress) => Promise<unknown>,
) => ({
  async answer(request: DropInRequest) {
    checkStream(request);
    const { suppressions } = listTable.read(sending.readJson(request).value);
    if (suppressions === undefined) throw invalidMember('Suppressions', 'is required');
    const results: object[] = [];
    for (const { emailAddress: EmailAddress } of suppressions)
      try {
        await change(request, suppressed.parseAddress(EmailAddress, 'EmailAddress'));
        results.push({ EmailAddress, Status, Message: null });
      } catch (error) {
        if (!(error instanceof DropInRefusal || error instanceof Fault)) throw error;
        results.push({ EmailAddress, Status: 'Failed', Message: describeError(error).message });
      }
    return ok({ Suppressions: results });
  },
  bodyBytes: 32 * 1_024,
  members: { '': listTable, 'Suppressions[]': entryTable },
});

async function allow(request: DropInRequest, address: ComparableAddress): Promise<void> {
  if ((await suppressed.readEntries(request, { address, reason: 'complaint' })).length > 0)
    throw new DropInRefusal('CONFLICT', 'A recipient who complained can’t be reactivated here.');
  await suppressed.remove(request, { address });
}

/** Status and code of errors (https://postmarkapp.com/developer/api/overview#error-codes). */
const errorCodes: ErrorTable<readonly [status: number, code: number]> = {
  MISSING_KEY: [401, 10],
  UNAUTHORIZED: [401, 10],
  MISSING_PERMISSION: [401, 10],
  ACCOUNT_SUSPENDED: [422, 413],
  UNSUPPORTED_CALL: [404, 404],
  NOT_FOUND: [422, 701],
  // Of a template; a bounce has another code.
  INVALID_ID: [422, 1_101],
  SENDER_NOT_ALLOWED: [422, 400],
  RECIPIENT_SUPPRESSED: [422, 406],
  QUOTA_EXCEEDED: [429, 405],
  IO_EXCEPTION: [503, 100],
  INTERNAL_ERROR: [500, 500],
};

function describePostmarkError({ kind, message, details }: DropInError) {
  const [status, code] = errorCodes[kind] ?? [422, 300];
  const [first] = details;
  const isUnreadable = kind === 'VALIDATION_FAILED' && first?.field === '';
  const own = isUnreadable && /JSON|UTF-8|empty/.test(first.reason) ? 402 : undefined;
  const ErrorCode = own ?? (first?.field === 'BounceID' ? 407 : code);
  return ok({ ErrorCode, Message: message }, status);
}

const stream = '/message-streams/:stream/suppressions';

/** Postmark's API (https://postmarkapp.com/developer), as version 5 of its SDK calls it. */
export const postmark = defineDropIn({
  name: 'postmark',
  keyOf: ({ 'x-postmark-server-token': token }) => (typeof token === 'string' ? token : undefined),
  calls: {
    'POST /email messages:send: send an email': sendOne(readContentEmail, emailMembers),
    [`POST /email/batch messages:send: send up to ${maxBatchEmails} emails; each has a result of its own`]:
      sendBatch(readContentEmail),
    'POST /email/withTemplate messages:send: send an email from a template': sendOne(
      readTemplated,
      { '': templatedTable },
    ),
    [`POST /email/batchWithTemplates messages:send: send up to ${maxBatchEmails} emails from templates; each has a result of its own`]:
      sendBatch(readTemplated, messagesStart),
    'GET /templates templates:read: list templates': withQuery(templateQuery, listTemplates),
    'GET /templates/:idOrAlias? templates:read: read a published template': getTemplate,
    'GET /messages/outbound messages:read: list messages': withQuery(messageQuery, listMessages),
    'GET /messages/outbound/:id/details? messages:read: read a message': getMessage,
    'GET /bounces messages:read: list messages that bounced': withQuery(bounceQuery, listBounces),
    'GET /bounces/:id? messages:read: read a bounce or complaint': getBounce,
    'GET /stats/outbound reports:read: count recipients and readers': withQuery(
      statsQuery,
      getOverview,
    ),
    [`GET ${stream}/dump suppressions:read: list suppressed addresses, newest first, if they aren’t more than ${maxDump}`]:
      withQuery(dumpQuery, dump),
    [`POST ${stream}? suppressions:write: suppress up to ${maxAddresses} addresses, as \`manual\``]:
      changeEach('Suppressed', (request, address) =>
        suppressed.add(request, { address, reason: 'manual' }),
      ),
    [`POST ${stream}/delete? suppressions:write: remove up to ${maxAddresses} addresses for all reasons, except those that complained`]:
      changeEach('Deleted', allow),
  },
  describeError: describePostmarkError,
  environment: (url, key) => ({
    POSTMARK_SERVER_TOKEN: key,
    POSTMARK_API_URL: url,
    // The SDK's option `requestHost`.
    POSTMARK_REQUEST_HOST: url.replace(/^https?:\/\//, ''),
  }),
});
