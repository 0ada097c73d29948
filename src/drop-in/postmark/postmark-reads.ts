import { Type } from 'typebox';
import type { ComparableAddress } from '../../base/values/email-address.ts';
import { Fault } from '../../base/values/errors.ts';
import { type MessageId, parseMessageId } from '../../base/values/ids.ts';
import { parseTimestamp } from '../../base/values/parse-timestamp.ts';
import type { StoredContent } from '../../content/message/message-content.ts';
import type { StoredEvent } from '../../content/message/message-status-store.ts';
import { isTestClass } from '../../content/message/test-class.ts';
import type { Suppression, SuppressionReason } from '../../content/suppression/suppression.ts';
import { findSuppressions } from '../../content/suppression/suppression-store.ts';
import { readTemplateFacts } from '../../content/template/template-page-store.ts';
import { textOf } from '../../outcomes/relay/json-fields.ts';
import { findMessages } from '../../outcomes/report/find-messages-store.ts';
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
  ok,
  on,
} from '../provider/drop-in.ts';
import { describeError } from '../provider/drop-in-routes.ts';
import { type FoundRange, findSentPage, paged } from '../provider/find-sent-page.ts';
import { invalidMember, MemberTable, mapped, readNumber, supported } from '../provider/members.ts';
import { describeSent, readSentMessage, type SentMessage } from '../provider/read-sent-message.ts';
import { readTemplate } from '../provider/read-template.ts';
import { readJson } from '../provider/send-messages.ts';
import {
  readFirstEvents,
  readSent,
  type SentEvent,
  type SentRow,
} from '../provider/sent-message-store.ts';
import {
  allowAddress,
  current,
  parseSuppressedAddress,
  readSuppressedAddress,
  suppressAddress,
} from '../provider/suppressed-addresses.ts';

export const onlyStream = 'can only be outbound: Signalpost has one stream';

const pages = {
  count: 'short: is at most 500, and 100 by default',
  offset: 'short: is at most 10,000 together with `count`',
} as const;
const times = {
  fromdate: 'short: is in UTC unless it has an offset',
  todate: 'short: is in UTC unless it has an offset; a day is included',
} as const;
const messagestream = `short: ${onlyStream}` as const;
const noSearch = 'refused: isn’t supported; search by recipient, tag and time';
const noFilter = 'refused: isn’t supported; all bounces are listed';

/** Parameters of queries, whose case Postmark ignores. */
const templateQuery = new MemberTable({
  ...pages,
  templatetype: mapped(Type.Enum(['All', 'Standard']), 'can’t be `Layout`'),
  layouttemplate: 'refused: isn’t supported, because Signalpost has no layouts',
});
const messageQuery = new MemberTable({
  ...pages,
  ...times,
  messagestream,
  recipient: 'address: is a whole address of To or Cc',
  tag: 'text',
  fromemail: noSearch,
  subject: noSearch,
  status: noSearch,
});
const bounceQuery = new MemberTable({
  ...pages,
  ...times,
  messagestream,
  emailfilter: 'address: is a whole address',
  tag: 'text',
  messageid: 'short',
  type: noFilter,
  inactive: noFilter,
});
const statsQuery = new MemberTable({ ...times, messagestream, tag: 'text' });
const queryOf = (query: MemberTable) => ({ members: { query } });

/** The calls that read templates, messages, bounces and statistics. */
export const postmarkReads: readonly DropInCall[] = [
  on('GET /templates templates:read: list templates', listTemplates, queryOf(templateQuery)),
  on('GET /templates/:idOrAlias templates:read: read a published template', getTemplate, {
    query: [],
  }),
  on('GET /messages/outbound messages:read: list messages', listMessages, queryOf(messageQuery)),
  on('GET /messages/outbound/:id/details messages:read: read a message', getMessage, { query: [] }),
  on('GET /bounces messages:read: list messages that bounced', listBounces, queryOf(bounceQuery)),
  on(
    'GET /bounces/:id messages:read: read a bounce or complaint',
    async (request) => ok(await findBounce(request)),
    { query: [] },
  ),
  on(
    'GET /stats/outbound reports:read: count recipients and readers',
    getOverview,
    queryOf(statsQuery),
  ),
];

/** The parameters of a query by their names in lower case. */
function parametersOf<Table extends { read(value: unknown): unknown }>(
  { query }: DropInRequest,
  table: Table,
): ReturnType<Table['read']> {
  const given = Object.fromEntries([...query].map(([name, value]) => [name.toLowerCase(), value]));
  if ((given.messagestream ?? 'outbound') !== 'outbound')
    throw invalidMember('messagestream', onlyStream);
  return table.read(given) as ReturnType<Table['read']>;
}

const maxEnd = 10_000;

function pageOf(given: { count?: string; offset?: string }): FoundRange {
  const count = readNumber(['count', given.count], [1, 500], 100);
  const offset = readNumber(['offset', given.offset], [0, 999_999], 0);
  if (count + offset > maxEnd)
    throw invalidMember('offset', `and count must not be more than ${maxEnd}`);
  return { count, offset };
}

const dayMs = 24 * 60 * 60 * 1_000;
/** From 1970 on, where IDs begin. */
const yearPattern = /^(?:19[7-9]|[2-9]\d\d)\d-/;
const dayPattern = /^\d{4}-\d\d-\d\d$/;

/** A range of time; undefined if it has no start or no end. */
function rangeOf({ fromdate, todate }: { fromdate?: string; todate?: string }) {
  const read = (field: string, text: string | undefined): Date | undefined => {
    if (text === undefined) return undefined;
    const isZoned = dayPattern.test(text) || /(?:z|[+-]\d\d:?\d\d)$/i.test(text);
    const time = yearPattern.test(text) ? parseTimestamp(isZoned ? text : `${text}Z`) : undefined;
    if (time === undefined)
      throw invalidMember(field, 'must be a time such as 2026-01-31 or 2026-01-31T12:00:00');
    return time;
  };
  const from = read('fromdate', fromdate);
  const until = read('todate', todate);
  const isDay = todate !== undefined && dayPattern.test(todate);
  return { from, until: until && isDay ? new Date(until.getTime() + dayMs) : until };
}

async function listTemplates(request: DropInRequest): Promise<DropInAnswer> {
  const { services, admission } = request;
  const page = pageOf(parametersOf(request, templateQuery));
  const limit = page.offset + page.count + 1;
  const all = await readTemplateFacts(services.database.kysely, admission.account.id, { limit });
  const { TotalCount, page: shown } = paged(all, page);
  return ok({
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
  const found = await readTemplate(request, request.params.idOrAlias);
  if (found?.published === undefined)
    throw new Fault('INVALID_ID', {
      details: [{ field: 'TemplateId', reason: 'is not the ID or alias of a published template' }],
    });
  const { subject, html, mjml, text } = found.published.source;
  return ok({
    ...viewTemplate(found.facts.id, found.facts.name, true),
    AssociatedServerId: 0,
    Subject: subject,
    HtmlBody: html ?? mjml ?? null,
    TextBody: text ?? null,
  });
}

async function listMessages(request: DropInRequest): Promise<DropInAnswer> {
  const given = parametersOf(request, messageQuery);
  const filter = { ...rangeOf(given), address: given.recipient, tag: given.tag };
  const { total, rows } = await findSentPage(request, filter, pageOf(given));
  const messages = await describeSent(request, rows);
  return ok({ TotalCount: total, Messages: messages.map(viewMessage) });
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
  return ok({
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
    throw invalidMember('messageID', 'is not the ID of a message');
  const { emailfilter: address, tag } = given;
  const filter = { ...rangeOf(given), state: 'bounced', address, tag, messageId } as const;
  const { total, rows } = await findSentPage(request, filter, pageOf(given));
  const bounces = await describeBounces(request, rows);
  return ok({ TotalCount: total, Bounces: bounces });
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
  return {
    RecordType: 'Bounce',
    ...describeBounce(facts),
    Tag: message.tag ?? '',
    MessageID: message.id,
    MessageStream: 'outbound',
    ServerID: 0,
  };
}

/** @throws Fault INVALID_ID */
async function findBounce(request: DropInRequest) {
  const { services, admission, params } = request;
  const { kysely } = services.database;
  const id = /^[1-9]\d{0,15}$/.test(params.id ?? '') ? Number(params.id) : 0;
  const from = new Date(timeOfBounce(id));
  const until = new Date(from.getTime() + 1);
  const range = { from, until, limit: 500 };
  const accountId = admission.account.id;
  const { found } = await findMessages(kysely, accountId, range);
  const ids = found.map(({ messageId }) => messageId).filter((one) => bounceIdOf(one) === id);
  const rows = await readSent(kysely, accountId, ids);
  const [bounce] = await describeBounces(request, rows);
  if (bounce !== undefined) return bounce;
  throw new Fault('INVALID_ID', {
    details: [{ field: 'BounceID', reason: 'is not the ID of a bounce' }],
  });
}

async function getOverview(request: DropInRequest): Promise<DropInAnswer> {
  const { services, admission } = request;
  const given = parametersOf(request, statsQuery);
  const { from = new Date(0), until = new Date(services.clock.now() + dayMs) } = rangeOf(given);
  const query = { from, until, group: 'none', timeZone: 'UTC', tag: given.tag } as const;
  const [row] = await readReport(services.database.kysely, admission.account.id, query);
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
const path = '/message-streams/:stream/suppressions';

const wholeList = 'isn’t needed: the whole list is returned';
const dumpQuery = new MemberTable({
  count: `short: ${wholeList}`,
  offset: `short: ${wholeList}`,
  ...times,
  suppressionreason: mapped(
    Type.Enum(['HardBounce', 'SpamComplaint', 'ManualSuppression']),
    'counts addresses that unsubscribed as `ManualSuppression`',
  ),
  origin: mapped(Type.Enum(['Recipient', 'Customer', 'Admin']), 'is `Customer` for manual entries'),
  emailaddress: 'address',
});

const object = Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' });
const listMembers = new MemberTable({
  Suppressions: supported(Type.Array(object, { maxItems: maxAddresses })),
});
const entryMembers = new MemberTable({ EmailAddress: 'address' });
const changes = {
  bodyBytes: 32 * 1_024,
  query: [],
  members: { '': listMembers, 'Suppressions[]': entryMembers },
};

/** The calls for the list of suppressed addresses. */
export const postmarkSuppressions: readonly DropInCall[] = [
  on(
    `GET ${path}/dump suppressions:read: list suppressed addresses, newest first, if they aren’t more than ${maxDump}`,
    dump,
    { members: { query: dumpQuery } },
  ),
  on(
    `POST ${path} suppressions:write: suppress up to ${maxAddresses} addresses, as \`manual\``,
    (request) =>
      changeEach(request, 'Suppressed', (address) => suppressAddress(request, address, 'manual')),
    changes,
  ),
  on(
    `POST ${path}/delete suppressions:write: remove up to ${maxAddresses} addresses for all reasons, except those that complained`,
    (request) => changeEach(request, 'Deleted', (address) => allow(request, address)),
    changes,
  ),
];

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

async function dump(request: DropInRequest): Promise<DropInAnswer> {
  checkStream(request);
  const { services, admission } = request;
  const given = parametersOf(request, dumpQuery);
  const { from, until } = rangeOf(given);
  const { suppressionreason: reason, origin, emailaddress: text } = given;
  const all = { limit: maxDump + 1 };
  const found: readonly Suppression[] =
    text === undefined
      ? await findSuppressions(services.database.kysely, admission.account.id, all)
      : await readSuppressedAddress(request, parseSuppressedAddress(text, 'emailaddress'));
  if (found.length > maxDump)
    throw invalidMember(
      'emailaddress',
      `is required, because the list has more than ${maxDump} entries; export them with the management API`,
    );
  const entries = current(request, found)
    .filter(({ createdAt }) => from === undefined || from <= createdAt)
    .filter(({ createdAt }) => until === undefined || createdAt < until)
    .map((entry) => {
      const [SuppressionReason, Origin] = reasons[entry.reason];
      const CreatedAt = entry.createdAt.toISOString();
      return { EmailAddress: entry.address, SuppressionReason, Origin, CreatedAt };
    })
    .filter((entry) => reason === undefined || entry.SuppressionReason === reason)
    .filter((entry) => origin === undefined || entry.Origin === origin);
  return ok({ Suppressions: entries });
}

/** Changes each address of the body; each has a result of its own. */
async function changeEach(
  request: DropInRequest,
  Status: 'Suppressed' | 'Deleted',
  change: (address: ComparableAddress) => Promise<unknown>,
): Promise<DropInAnswer> {
  checkStream(request);
  const { Suppressions: given } = listMembers.read(readJson(request).value);
  if (given === undefined) throw invalidMember('Suppressions', 'is required');
  const addresses = entryMembers.readEach(given, 'Suppressions', []) ?? [];
  const results: object[] = [];
  for (const { EmailAddress } of addresses)
    try {
      await change(parseSuppressedAddress(EmailAddress, 'EmailAddress'));
      results.push({ EmailAddress, Status, Message: null });
    } catch (error) {
      if (!(error instanceof DropInRefusal || error instanceof Fault)) throw error;
      results.push({ EmailAddress, Status: 'Failed', Message: describeError(error, {}).message });
    }
  return ok({ Suppressions: results });
}

async function allow(request: DropInRequest, address: ComparableAddress): Promise<void> {
  if ((await readSuppressedAddress(request, address, 'complaint')).length > 0)
    throw new DropInRefusal('CONFLICT', 'A recipient who complained can’t be reactivated here.');
  await allowAddress(request, address);
}
