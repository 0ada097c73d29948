import { Type } from 'typebox';
import type { Permission } from '../../accounts/access/permission.ts';
import { comparableAddress } from '../../base/values/email-address.ts';
import { Fault } from '../../base/values/errors.ts';
import { type MessageId, parseMessageId, parseTemplateId } from '../../base/values/ids.ts';
import { parseTimestamp } from '../../base/values/parse-timestamp.ts';
import type { StoredContent } from '../../content/message/message-content.ts';
import type { StoredEvent } from '../../content/message/message-status-store.ts';
import { isTestClass } from '../../content/message/test-class.ts';
import {
  readTemplateFacts,
  readTemplateVersion,
} from '../../content/template/template-page-store.ts';
import { textOf } from '../../outcomes/relay/json-fields.ts';
import {
  findMessages,
  type MessageSearchFilter,
} from '../../outcomes/report/find-messages-store.ts';
import { readReport } from '../../outcomes/report/read-report-store.ts';
import {
  bounceIdOf,
  describeBounce,
  timeOfBounce,
} from '../../outcomes/webhook/postmark-webhook.ts';
import { factsOf, type WebhookEvent } from '../../outcomes/webhook/webhook-format.ts';
import {
  type DropInAnswer,
  type DropInCall,
  DropInRefusal,
  type DropInRequest,
} from '../provider/drop-in.ts';
import { invalidMembers, MemberTable, mapped, refused, supported } from '../provider/members.ts';
import { describeSent, readSentMessage, type SentMessage } from '../provider/read-sent-message.ts';
import { findTemplate } from '../provider/send-messages.ts';
import {
  readFirstEvents,
  readSent,
  type SentEvent,
  type SentRow,
} from '../provider/sent-message-store.ts';
import { allowAddress } from '../provider/suppressed-addresses.ts';
import { onlyStream } from './postmark-emails.ts';

const Text = Type.String({ maxLength: 1_000 });
const pages = {
  count: mapped(Text, 'is at most 500, and 100 by default'),
  offset: mapped(Text, 'is at most 10,000 together with `count`'),
};
export const times = {
  fromdate: mapped(Text, 'is in UTC unless it has an offset'),
  todate: mapped(Text, 'is in UTC unless it has an offset; a day is included'),
};
const stream = { messagestream: mapped(Text, onlyStream) };
const noSearch = 'isn’t supported; search by recipient, tag and time';

/** Parameters of queries, whose case Postmark ignores. */
const templateQuery = new MemberTable({
  ...pages,
  templatetype: mapped(Type.Enum(['All', 'Standard']), 'can’t be `Layout`'),
  layouttemplate: refused('isn’t supported, because Signalpost has no layouts'),
});
const messageQuery = new MemberTable({
  ...pages,
  ...times,
  ...stream,
  recipient: mapped(Text, 'is a whole address of To or Cc'),
  tag: supported(Text),
  fromemail: refused(noSearch),
  subject: refused(noSearch),
  status: refused(noSearch),
});
const bounceQuery = new MemberTable({
  ...pages,
  ...times,
  ...stream,
  emailfilter: mapped(Text, 'is a whole address'),
  tag: supported(Text),
  messageid: supported(Text),
  type: refused('isn’t supported; all bounces are listed'),
  inactive: refused('isn’t supported; all bounces are listed'),
});
const statsQuery = new MemberTable({ ...times, ...stream, tag: supported(Text) });

/** @param query parameters; absent: it has none */
export const get = (
  path: string,
  permission: Permission,
  summary: string,
  answer: DropInCall['answer'],
  query?: MemberTable,
): DropInCall => {
  const parameters = query === undefined ? { query: [] } : { members: { query } };
  return { method: 'GET', path, permission, summary, answer, ...parameters };
};

/** The calls that read templates, messages, bounces and statistics. */
export const postmarkReads: readonly DropInCall[] = [
  get('/templates', 'templates:read', 'list templates', listTemplates, templateQuery),
  get('/templates/:idOrAlias', 'templates:read', 'read a published template', getTemplate),
  get('/messages/outbound', 'messages:read', 'list messages', listMessages, messageQuery),
  get('/messages/outbound/:id/details', 'messages:read', 'read a message', getMessage),
  get('/bounces', 'messages:read', 'list messages that bounced', listBounces, bounceQuery),
  get('/bounces/:id', 'messages:read', 'read a bounce or complaint', getBounce),
  {
    method: 'PUT',
    path: '/bounces/:id/activate',
    summary: 'remove the suppression that a bounce caused',
    permission: 'suppressions:write',
    bodyBytes: 4 * 1_024,
    query: [],
    answer: activateBounce,
  },
  get('/stats/outbound', 'reports:read', 'count recipients and readers', getOverview, statsQuery),
];

export function okAnswer(body: unknown): DropInAnswer {
  return { status: 200, body };
}

/** The parameters of a query by their names in lower case. */
export function parametersOf<Table extends { read(value: unknown): unknown }>(
  { query }: DropInRequest,
  table: Table,
): ReturnType<Table['read']> {
  const given = Object.fromEntries([...query].map(([name, value]) => [name.toLowerCase(), value]));
  if ((given.messagestream ?? 'outbound') !== 'outbound')
    throw invalidMembers([{ field: 'messagestream', reason: onlyStream }]);
  return table.read(given) as ReturnType<Table['read']>;
}

const maxCount = 500;
const maxEnd = 10_000;

function pageOf({ count = '100', offset = '0' }: { count?: string; offset?: string }) {
  const page = { count: Number(count), offset: Number(offset) };
  if (!/^\d{1,6}$/.test(count) || page.count < 1 || page.count > maxCount)
    throw invalidMembers([{ field: 'count', reason: `must be a number from 1 to ${maxCount}` }]);
  if (!/^\d{1,6}$/.test(offset) || page.count + page.offset > maxEnd)
    throw invalidMembers([
      { field: 'offset', reason: `and count must not be more than ${maxEnd}` },
    ]);
  return page;
}

const dayMs = 24 * 60 * 60 * 1_000;
/** From 1970 on, where IDs begin. */
const yearPattern = /^(?:19[7-9]|[2-9]\d\d)\d-/;
const dayPattern = /^\d{4}-\d\d-\d\d$/;

/** A range of time; undefined if it has no start or no end. */
export function rangeOf({ fromdate, todate }: { fromdate?: string; todate?: string }) {
  const read = (field: string, text: string | undefined): Date | undefined => {
    if (text === undefined) return undefined;
    const isZoned = dayPattern.test(text) || /(?:z|[+-]\d\d:?\d\d)$/i.test(text);
    const time = yearPattern.test(text) ? parseTimestamp(isZoned ? text : `${text}Z`) : undefined;
    if (time === undefined)
      throw invalidMembers([
        { field, reason: 'must be a time such as 2026-01-31 or 2026-01-31T12:00:00' },
      ]);
    return time;
  };
  const from = read('fromdate', fromdate);
  const until = read('todate', todate);
  const isDay = todate !== undefined && dayPattern.test(todate);
  return { from, until: until && isDay ? new Date(until.getTime() + dayMs) : until };
}

/** One more than the end of the page says that there is another. */
function paged<Item>(items: readonly Item[], { count, offset }: ReturnType<typeof pageOf>) {
  return { TotalCount: items.length, page: items.slice(offset, offset + count) };
}

async function listTemplates(request: DropInRequest): Promise<DropInAnswer> {
  const { services, admission } = request;
  const page = pageOf(parametersOf(request, templateQuery));
  const limit = page.offset + page.count + 1;
  const { kysely } = services.database;
  const all = await readTemplateFacts(kysely, admission.account.id, { limit });
  const { TotalCount, page: shown } = paged(all, page);
  return okAnswer({
    TotalCount,
    Templates: shown.map(({ id, name, publishedVersion }) =>
      viewTemplate(id, name, publishedVersion !== null),
    ),
  });
}

function viewTemplate(id: string, Name: string, Active: boolean) {
  const TemplateId = /^[1-9]\d{0,14}$/.test(id) ? Number(id) : 0;
  return { Active, TemplateId, Name, Alias: id, TemplateType: 'Standard', LayoutTemplate: null };
}

async function getTemplate(request: DropInRequest): Promise<DropInAnswer> {
  const { services, admission, params } = request;
  const { kysely } = services.database;
  const id = parseTemplateId(await findTemplate(request, params.idOrAlias ?? ''));
  const accountId = admission.account.id;
  const version = id && (await readTemplateVersion(kysely, accountId, id, 'published'));
  const [facts] = version === undefined ? [] : await readTemplateFacts(kysely, accountId, { id });
  if (version === undefined || facts === undefined)
    throw new Fault('INVALID_ID', {
      details: [{ field: 'TemplateId', reason: 'is not the ID or alias of a published template' }],
    });
  const { subject, html, mjml, text } = version.source;
  return okAnswer({
    ...viewTemplate(facts.id, facts.name, true),
    AssociatedServerId: 0,
    Subject: subject,
    HtmlBody: html ?? mjml ?? null,
    TextBody: text ?? null,
  });
}

/** Messages of one statement. */
const maxFound = 500;
const maxSearchMs = 1_000;

/** A page of messages, newest first. @throws Fault VALIDATION_FAILED if the search takes too long */
async function findPage(
  { services, admission }: DropInRequest,
  filter: Omit<MessageSearchFilter, 'limit'>,
  page: ReturnType<typeof pageOf>,
): Promise<{ readonly total: number; readonly rows: readonly SentRow[] }> {
  const { kysely } = services.database;
  const accountId = admission.account.id;
  const end = page.offset + page.count + 1;
  const ids = new Set<MessageId>();
  const deadline = performance.now() + maxSearchMs;
  for (let before: MessageId | undefined, isLast = false; ids.size < end && !isLast; ) {
    if (performance.now() > deadline)
      throw invalidMembers([{ field: 'fromdate', reason: 'must be later, to search less' }]);
    const limit = Math.min(maxFound, end - ids.size);
    const { found, next } = await findMessages(kysely, accountId, { ...filter, before, limit });
    const count = ids.size;
    for (const { messageId } of found) ids.add(messageId);
    before = next ?? found.at(-1)?.messageId;
    isLast = next === undefined && ids.size - count < limit;
  }
  const { TotalCount, page: shown } = paged([...ids], page);
  const rows = shown.length === 0 ? [] : await readSent(kysely, accountId, shown);
  return { total: TotalCount, rows };
}

async function listMessages(request: DropInRequest): Promise<DropInAnswer> {
  const given = parametersOf(request, messageQuery);
  const filter = { ...rangeOf(given), address: given.recipient, tag: given.tag };
  const { total, rows } = await findPage(request, filter, pageOf(given));
  const messages = await describeSent(request, rows);
  return okAnswer({ TotalCount: total, Messages: messages.map(viewMessage) });
}

function viewMessage(message: SentMessage) {
  const { content, to, cc, bcc, tag, state, trackClicks } = message;
  return {
    MessageID: message.id,
    MessageStream: 'outbound',
    Tag: tag ?? '',
    To: to.map(viewMailbox),
    Cc: cc.map(viewMailbox),
    Bcc: bcc.map(viewMailbox),
    Recipients: content === null ? [] : [content.to, ...(content.cc ?? [])],
    ReceivedAt: message.acceptedAt.toISOString(),
    From: message.from,
    Subject: message.subject,
    Attachments: [] as readonly string[],
    Status: state === 'queued' || state === 'deferred' || state === 'sending' ? 'Queued' : 'Sent',
    TrackOpens: message.trackOpens,
    TrackLinks: trackClicks ? 'HtmlOnly' : 'None',
    Metadata: content?.attributes ?? {},
    Sandboxed: isTestClass(message.retentionDays),
  };
}

/** @param text as `writeMailbox` writes it */
function viewMailbox(text: string) {
  const start = text.lastIndexOf(' <');
  return start === -1
    ? { Email: text, Name: '' }
    : { Email: text.slice(start + 2, -1), Name: text.slice(0, start) };
}

async function getMessage(request: DropInRequest): Promise<DropInAnswer> {
  const message = await readSentMessage(request, request.params.id ?? '');
  const { html: HtmlBody, text: TextBody, events, content } = message;
  return okAnswer({
    ...viewMessage(message),
    Attachments: message.files,
    HtmlBody,
    TextBody,
    MessageEvents: events.flatMap((event) => viewEvent(event, message.id, content)),
  });
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

function viewEvent(event: StoredEvent, id: MessageId, content: StoredContent | null): object[] {
  const Type = eventTypes[event.kind];
  if (Type === undefined) return [];
  const detail = event.detail as Readonly<Record<string, unknown>>;
  const text = textOf(detail.reply) || textOf(detail.reason);
  const isBounce = bounceKinds.some((kind) => kind === event.kind);
  return [
    {
      Recipient: recipientOf(content, event.recipient),
      Type,
      ReceivedAt: event.at.toISOString(),
      Details: isBounce ? { Summary: text, BounceID: bounceIdOf(id) } : { DeliveryMessage: text },
    },
  ];
}

function recipientOf(content: StoredContent | null, recipient: number | null): string {
  if (content === null) return '';
  return [content.to, ...(content.cc ?? [])][recipient ?? 0] ?? '';
}

const bounceKinds = ['bounced', 'complained', 'expired'] as const;

async function listBounces(request: DropInRequest): Promise<DropInAnswer> {
  const given = parametersOf(request, bounceQuery);
  const messageId = given.messageid === undefined ? undefined : parseMessageId(given.messageid);
  if (given.messageid !== undefined && messageId === undefined)
    throw invalidMembers([{ field: 'messageID', reason: 'is not the ID of a message' }]);
  const { emailfilter: address, tag } = given;
  const filter = { ...rangeOf(given), state: 'bounced', address, tag, messageId } as const;
  const { total, rows } = await findPage(request, filter, pageOf(given));
  const bounces = await describeBounces(request, rows);
  return okAnswer({ TotalCount: total, Bounces: bounces.map(({ bounce }) => bounce) });
}

/** The first bounce of each message, newest first. */
async function describeBounces(request: DropInRequest, rows: readonly SentRow[]) {
  const { services, admission } = request;
  const ids = rows.map(({ id }) => id);
  const { kysely } = services.database;
  const events = await readFirstEvents(kysely, admission.account.id, ids, bounceKinds);
  const messages = new Map((await describeSent(request, rows)).map((sent) => [sent.id, sent]));
  return events.flatMap((event) => {
    const message = messages.get(event.messageId);
    return message === undefined ? [] : [viewBounce(event, message)];
  });
}

function viewBounce({ detail, ...event }: SentEvent, { content, ...message }: SentMessage) {
  const address = content === null ? null : recipientOf(content, event.recipient);
  const facts = factsOf({
    ...event,
    kind: event.kind as WebhookEvent['kind'],
    detail: detail as Readonly<Record<string, unknown>>,
    templateId: message.templateId,
    tag: message.tag,
    externalId: null,
    attributes: content?.attributes ?? null,
    address,
    envelope: { from: content?.from ?? null, subject: message.subject, sendAt: null },
  });
  const bounce = {
    RecordType: 'Bounce',
    ...describeBounce(facts),
    Tag: message.tag ?? '',
    MessageID: message.id,
    MessageStream: 'outbound',
    ServerID: 0,
  };
  return { bounce, address };
}

/** @throws Fault INVALID_ID */
async function findBounce(request: DropInRequest) {
  const { services, admission, params } = request;
  const { kysely } = services.database;
  const id = /^[1-9]\d{0,15}$/.test(params.id ?? '') ? Number(params.id) : 0;
  const from = new Date(timeOfBounce(id));
  const until = new Date(from.getTime() + 1);
  const range = { from, until, limit: maxFound };
  const accountId = admission.account.id;
  const { found } = await findMessages(kysely, accountId, range);
  const match = found.filter(({ messageId }) => bounceIdOf(messageId) === id);
  const rows = await readSent(
    kysely,
    accountId,
    match.map(({ messageId }) => messageId),
  );
  const [bounce] = await describeBounces(request, rows);
  if (bounce !== undefined) return bounce;
  throw new Fault('INVALID_ID', {
    details: [{ field: 'BounceID', reason: 'is not the ID of a bounce' }],
  });
}

async function getBounce(request: DropInRequest): Promise<DropInAnswer> {
  return okAnswer((await findBounce(request)).bounce);
}

/** Answers nothing of the message, which the caller may not be permitted to read. */
async function activateBounce(request: DropInRequest): Promise<DropInAnswer> {
  const { bounce, address } = await findBounce(request);
  const isActivated =
    address !== null && (await allowAddress(request, comparableAddress(address), 'hard_bounce'));
  if (!isActivated)
    throw new DropInRefusal('CONFLICT', 'The address isn’t suppressed because of a bounce.');
  const Bounce = { ID: bounce.ID, Inactive: false, CanActivate: false };
  return okAnswer({ Message: 'OK', Bounce });
}

async function getOverview(request: DropInRequest): Promise<DropInAnswer> {
  const { services, admission } = request;
  const given = parametersOf(request, statsQuery);
  const { from = new Date(0), until = new Date(services.clock.now() + dayMs) } = rangeOf(given);
  const { kysely } = services.database;
  const query = { from, until, group: 'none', timeZone: 'UTC', tag: given.tag } as const;
  const [row] = await readReport(kysely, admission.account.id, query);
  const count = (...names: readonly (keyof NonNullable<typeof row>['counts'])[]) =>
    names.reduce((sum, name) => sum + (row?.counts[name] ?? 0), 0);
  const Sent = count('accepted');
  const Bounced = count('bounced_hard', 'bounced_soft', 'expired');
  const SpamComplaints = count('complained');
  const rate = (part: number) => (Sent === 0 ? 0 : Math.round((part / Sent) * 100_000) / 1_000);
  return okAnswer({
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
