import { Type } from 'typebox';
import { domainOf } from '../../base/values/email-address.ts';
import { Fault } from '../../base/values/errors.ts';
import { parseTemplateId } from '../../base/values/ids.ts';
import type { HeaderMailbox } from '../../content/rendering/message-headers.ts';
import type { Suppression } from '../../content/suppression/suppression.ts';
import { findSuppressions } from '../../content/suppression/suppression-store.ts';
import type { TemplateFacts } from '../../content/template/template-page-store.ts';
import { readTemplateFacts } from '../../content/template/template-page-store.ts';
import { formatBytes, kibibyte, mebibyte } from '../../host/http/limits/route-limits.ts';
import { limitDetails } from '../../sending/submission/describe-body-problems.ts';
import { isJsonType } from '../../sending/submission/read-body-json.ts';
import type { CallTable, DropInRequest } from '../provider/drop-in.ts';
import { defineDropIn, ok, withAttachments } from '../provider/drop-in.ts';
import type { DropInError, ErrorTable } from '../provider/drop-in-errors.ts';
import { DropInRefusal, describeError } from '../provider/drop-in-errors.ts';
import { namesOf, type ProviderMessage, toFieldValues, toMessage } from '../provider/mail.ts';
import { mapValues, notes, schemas, shape, type Texts, tablesWith } from '../provider/members.ts';
import { invalidMember, Place, readNumber, readObject } from '../provider/place.ts';
import { readMailboxes, splitMailboxes } from '../provider/read-mailboxes.ts';
import * as sending from '../provider/sending.ts';
import * as suppressed from '../provider/suppressed-addresses.ts';
import { type FormFile, maxFormTextBytes, readFormMembers } from './form-data.ts';

/** Of a batch, as Mailgun has it. */
const maxBatchRecipients = 1_000;
/** Texts and files of all messages of a batch: each is stored for itself. */
const maxBatchBytes = 64 * mebibyte;
/** Characters of one message with its variables. */
const maxFilledLength = mebibyte;

type Values = Readonly<Record<string, unknown>>;

/** Lists of addresses, separated by commas outside of quotes. */
function readRecipients(given: readonly string[], place: Place): HeaderMailbox[] {
  const texts = given.flatMap((text) => splitMailboxes(text, place));
  if (texts.length <= maxBatchRecipients) return readMailboxes(texts, place);
  place.refuse(`has more than ${maxBatchRecipients} addresses`);
  return [];
}

const Files = Type.Array(Type.Unsafe<FormFile>({ type: 'object' }), { maxItems: 100 });
const readFiles = (files: readonly FormFile[]) =>
  files.map(({ filename, contentType: type, content }) => ({
    filename,
    // What FormData writes for bytes says nothing.
    contentType: /^(?:application\/octet-stream)?$/.test(type) ? undefined : type,
    content: { decoded: content },
  }));

const hasZone = /(?:[+-]\d{2}:?\d{2}|\b(?:GMT|UTC?)|\dZ)$/i;
const unsubscribeVariable = /%(?:tag_|mailing_list_)?unsubscribe_url%/;
const noUnsubscribe =
  'has %unsubscribe_url%, which Signalpost can’t fill; it adds unsubscribe headers';
const readChoice = (choice: string): boolean => ['yes', 'true', 'htmlonly'].includes(choice);

const table = tablesWith({
  people: shape(Type.Array(schemas.text, { maxItems: maxBatchRecipients }), readRecipients),
  body: shape(schemas.text, (text, place) => {
    place.refuseIf(unsubscribeVariable.test(text), noUnsubscribe);
    return text;
  }),
  files: shape(Files, readFiles),
  inline: shape(Files, (files) =>
    readFiles(files).map((file) => ({ ...file, contentId: file.filename })),
  ),
  json: shape(schemas.text, readObject),
  /** Those that are sent, and those that mean something else. */
  headers: shape(schemas.texts, (given, { details }) => {
    const headers: [string, string][] = [];
    const found: { replyTo?: HeaderMailbox[]; variables?: Values } = {};
    for (const [name, value] of Object.entries(given))
      if (/^reply-to$/i.test(name))
        found.replyTo = readRecipients([value], new Place('h:Reply-To', details));
      else if (/^x-mailgun-variables$/i.test(name))
        found.variables = readObject(value, new Place('h:X-Mailgun-Variables', details));
      else headers.push([name, value]);
    return { ...found, headers: Object.fromEntries(headers) };
  }),
  tags: shape(Type.Array(schemas.short, { maxItems: 10 })),
  choice: shape(Type.Enum(['yes', 'no', 'true', 'false']), readChoice),
  clicks: shape(Type.Enum(['yes', 'no', 'true', 'false', 'htmlonly']), readChoice),
  yes: shape(Type.Enum(['yes', 'true'])),
  no: shape(Type.Enum(['no', 'false'])),
  time: shape(schemas.short, (text, place): string | undefined => {
    const time = hasZone.test(text.trim()) ? Date.parse(text) : Number.NaN;
    if (!Number.isNaN(time)) return new Date(time).toISOString();
    return place.refuse('must be a time such as Fri, 14 Oct 2026 23:10:10 +0000');
  }),
  email: shape(Type.String({ maxLength: 320 })),
  code: shape(Type.Enum(['550', 550])),
  empty: shape(Type.Enum([''])),
  all: shape(Type.Enum(['*'])),
  alls: shape(Type.Array(Type.Enum(['*']), { maxItems: 1 })),
});

const noRegions =
  'refused: isn’t supported; Signalpost sends from the addresses that its operator sets';
const noHours = 'refused: isn’t supported; give `o:deliverytime` instead';
const fileNote = 'has the type of its part, or of its extension';

/** The form of `/messages`. */
const messageTable = table({
  from: 'mailbox',
  to: 'people: can be repeated or separated by commas; with `cc` and `bcc` up to 150, with `recipient-variables` up to 1,000',
  cc: 'people',
  bcc: 'people',
  subject: 'text',
  text: 'body',
  html: 'body',
  attachment: `files as attachments: ${fileNote}`,
  inline: `inline: ${fileNote}; the HTML shows it as \`cid:\` with its file name`,
  template:
    'short as templateId: is the ID of a published template of the account; `signalpost import` makes it the name',
  't:variables':
    'json as values: become values of its fields: numbers as text, `false` and `null` as empty text',
  't:text': 'yes as asText: can be `yes`; messages from templates always have a text part',
  't:version': 'refused: isn’t supported; the published version is sent',
  'recipient-variables':
    'json as people: replace `%recipient.…%` in subject, text, HTML, headers and variables, unescaped; one without a value is refused',
  'h:*':
    'headers as headers: can be `Reply-To` (verified senders), `X-Mailgun-Variables` (as `t:variables`, or as `v:` without a template), `X-…`, `List-…` except unsubscribe, `References`, `In-Reply-To`, `Importance` and `Feedback-ID`',
  'o:tag':
    'tags as tags: groups messages in reports, up to 48 characters; further tags become the attributes `tag-2`, `tag-3`…',
  'o:testmode':
    'choice as isTest: delivers to the account’s inbox only, as a [test key](../test-email.md) does',
  'o:deliverytime': 'time as sendAt: is a time as in RFC 2822, up to 365 days ahead',
  'o:tracking': 'choice as tracking: is both of the following; tracking is off unless asked for',
  'o:tracking-opens': 'choice as trackOpens',
  'o:tracking-clicks': 'clicks as trackClicks: tracks links of the HTML only',
  'o:dkim': 'yes: can be `yes`; every message is signed',
  'o:require-tls': 'no: can be `no`; an operator requires TLS for the receiving domain',
  'o:skip-verification': 'no: can be `no`',
  'o:campaign': 'refused: isn’t supported; use `o:tag`',
  'o:deliverytime-optimize-period': noHours,
  'o:time-zone-localize': noHours,
  'o:sending-ip': noRegions,
  'o:sending-ip-pool': noRegions,
  'v:*': `texts as attributes: ${notes.attributes}`,
  'amp-html': 'refused: isn’t supported; send `html`',
});

/** The members of the forms by those of the send body. */
const messageNames = namesOf({
  ...messageTable.names,
  replyTo: 'h:Reply-To',
  envelope: 'to, cc and bcc',
  content: 'html or text',
  headers: 'h:',
  attributes: 'v:',
  tag: 'o:tag',
});

/**
 * Translates the form of `/messages`.
 * @returns `recipients` of a batch, each of whom gets a message of their own, and what makes it or the only one; it fails if a
 *   variable has no value
 * @throws Fault VALIDATION_FAILED with its members
 */
function readMailgunMessage(form: object) {
  const place = new Place();
  const { details } = place;
  const given = messageTable.read(form, '', details, 'to');
  const { subject, html, text, values, people, headers, tags = [], asText, ...email } = given;
  const { isTest = false, tracking = false, inline = [], attachments = [], ...mail } = email;
  const { from, to = [], templateId } = mail;
  const isStored = templateId !== undefined;
  place.refuseIf(values !== undefined && !isStored, 'needs template', 't:variables');
  place.refuseIf(asText !== undefined && !isStored, 'needs template', 't:text');
  for (const name of ['cc', 'bcc'] as const)
    place.refuseIf(people && mail[name], 'can’t be used with recipient-variables', name);
  const [tag, ...moreTags] = tags;
  const attributes = {
    ...mail.attributes,
    ...Object.fromEntries(moreTags.map((one, index) => [`tag-${index + 2}`, one])),
    // Lists and objects as JSON.
    ...(!isStored &&
      mapValues(headers?.variables ?? {}, (one) =>
        typeof one === 'string' ? one : JSON.stringify(one),
      )),
  };
  const fixed = {
    subject,
    html,
    text,
    headers: headers?.headers,
    attributes,
    values: isStored ? { ...mail.attributes, ...headers?.variables, ...values } : undefined,
  };
  const shared = {
    ...mail,
    replyTo: headers?.replyTo,
    tag,
    attachments: [...attachments, ...inline],
    trackOpens: mail.trackOpens ?? tracking,
    trackClicks: mail.trackClicks ?? tracking,
  };
  const fileBytes = shared.attachments.reduce((sum, file) => sum + file.content.decoded.length, 0);
  const share = Math.min(maxFilledLength, maxBatchBytes / Math.max(to.length, 1) - fileBytes);
  const budget = people === undefined ? 0 : share - JSON.stringify(fixed).length;
  place.refuseIf(budget < 0, tooLarge, 'recipient-variables');
  // Tells what is wrong with all of them.
  toMessage({ ...shared, ...fixed, values: {}, ...(people && { to: to.slice(0, 1) }) }, details);
  if (from === undefined) throw invalidMember('from', 'is required');
  const named = Object.entries(people ?? {});
  const variables = new Map(named.map(([name, own]) => [name.trim().toLowerCase(), own]));
  const messageTo = (recipient?: HeaderMailbox): ProviderMessage => {
    const { address = '' } = recipient ?? {};
    const given = variables.get(address.toLowerCase());
    const own = recipient === undefined ? fixed : fillFor(address, given, fixed, budget);
    const values = own.values && toFieldValues(own.values);
    return toMessage({ ...shared, ...own, values, ...(recipient && { to: [recipient] }) }, []);
  };
  return { from, isTest, recipients: people && to, messageTo };
}

const tooLarge = `makes more than ${formatBytes(maxBatchBytes)} of messages, or one of more than ${formatBytes(maxFilledLength)}; send several requests`;

/** In JSON, whose strings it doesn't leave. */
const recipientVariable = /%recipient(?:\.([^%\s"\\]{1,100}))?%/g;

/**
 * Fills in the variables of a recipient. Not escaped, as with Mailgun, whose values can have HTML.
 * @param budget characters that the variables can have
 */
function fillFor<Parts>(address: string, given: unknown, parts: Parts, budget: number): Parts {
  let left = budget;
  const own = new Map(typeof given === 'object' && given !== null ? Object.entries(given) : []);
  const missing = new Set<string>();
  const textOf = (name: string | undefined): string => {
    if (name === undefined) return address;
    const found: unknown = own.get(name);
    if (found !== undefined && typeof found !== 'object') return String(found);
    missing.add(name);
    return '';
  };
  const filled = JSON.stringify(parts).replaceAll(recipientVariable, (_, name?: string) => {
    const text = textOf(name);
    left -= text.length;
    if (left < 0) throw invalidMember('recipient-variables', tooLarge);
    return JSON.stringify(text).slice(1, -1);
  });
  if (missing.size === 0) return JSON.parse(filled) as Parts;
  const details = [...missing].map((name) => ({
    field: `recipient-variables.${address}.${name}`,
    reason: 'has no value',
  }));
  throw new Fault('PERSONALIZATION_FAILURE', { details: limitDetails(details) });
}

const thanks = 'Queued. Thank you.';
const maxNamed = 10;

async function send(request: DropInRequest) {
  const form = await readFormMembers(request);
  const { from, isTest, recipients, messageTo } = readMailgunMessage(form);
  const asked = isTest ? { ...request, admission: request.admission.forTest } : request;
  // As in webhooks: the Message-ID of the first recipient's message.
  const queued = (messageId = '', ...more: readonly string[]) =>
    ok({ id: `<${messageId}@${domainOf(from.address)}>`, message: [thanks, ...more].join(' ') });
  if (recipients === undefined)
    return queued((await sending.sendMessage(asked, messageTo())).messageId);
  return sending.useSlot(asked, async () => {
    const messages = recipients.map((one) => () => messageTo(one));
    const wrong = await sending.checkEach(asked, messages);
    if (wrong !== undefined) throw wrong.fault;
    const { sent, failed } = await sending.sendEach(asked, messages);
    if (sent.length === 0 && failed[0] !== undefined) throw failed[0].fault;
    const named = failed.slice(0, maxNamed).map(({ fault, index }) => {
      const { message } = describeError(fault, messageNames);
      return `${recipients[index]?.address}: ${message}`;
    });
    const count = `Not sent to ${failed.length} of ${recipients.length} recipients.`;
    return queued(sent[0]?.messageId, ...(named.length === 0 ? [] : [count, ...named]));
  });
}

/** Of one request to add some. */
const maxAdded = 100;
const maxPage = 1_000;

const address = 'email';
const created_at = 'refused: isn’t supported; the entry is of now';
const allMail = 'can be `*`: all mail that isn’t transactional';

/** What lists of suppressed addresses are here, and what their entries have besides address and time. */
const lists = [
  {
    name: 'bounces',
    reason: 'hard_bounce',
    members: table({ address, code: 'code: can be 550', error: 'empty: can be empty', created_at }),
    removed: 'Bounced address has been removed',
    facts: { code: '550', error: '' },
  },
  {
    name: 'unsubscribes',
    reason: 'unsubscribe',
    members: table({ address, tag: `all: ${allMail}`, tags: `alls: ${allMail}`, created_at }),
    removed: 'Unsubscribe event has been removed',
    facts: { tags: ['*'] },
  },
  {
    name: 'complaints',
    reason: 'complaint',
    members: table({ address, created_at }),
    removed: 'Spam complaint has been removed',
    facts: {},
  },
] as const;

type SuppressionList = (typeof lists)[number];

function callsOf(list: SuppressionList): CallTable {
  const { name, reason, members, removed, facts } = list;
  const path = `/v3/:domain/${name}`;
  const notListed = new DropInRefusal('NOT_FOUND', `Address not found in ${name} table`);
  const view = (entry: Suppression) => ({
    address: entry.address,
    ...facts,
    created_at: entry.createdAt.toUTCString(),
  });
  return {
    [`GET ${path}?limit&page&address&at suppressions:read: list addresses with the reason \`${reason}\`, newest first, of the whole account`]:
      (request) => listSuppressed(request, list, view),
    [`GET ${path}/:address? suppressions:read: read one of them`]: async (request) => {
      const address = suppressed.parseAddress(request.params.address);
      const [entry] = await suppressed.readEntries(request, { address, reason });
      if (entry === undefined) throw notListed;
      return ok(view(entry));
    },
    [`POST ${path} suppressions:write: add one, or up to ${maxAdded} as JSON`]: {
      answer: (request) => addSuppressed(request, list),
      bodyBytes: 64 * kibibyte,
      members: { '': members },
    },
    [`DELETE ${path}/:address? suppressions:write: remove one`]: async (request) => {
      const address = suppressed.parseAddress(request.params.address);
      if (!(await suppressed.remove(request, { address, reason }))) throw notListed;
      return ok({ message: removed, address });
    },
  };
}

/** What a query asks for. @throws Fault VALIDATION_FAILED */
function pageOf({ query }: DropInRequest) {
  const page = query.get('page') || 'first';
  const limit = readNumber(['limit', query.get('limit')], [1, maxPage], 100);
  if (page !== 'next' && page !== 'first') throw invalidMember('page', 'can be first or next');
  return { limit, isNext: page === 'next' };
}

/** Links to the first page and to what comes after this one. @param place of the last item; empty if there never was one */
function pagesOf(request: DropInRequest, path: string, place: Texts) {
  const { services, params } = request;
  const base = `${services.publicUrl()}/mailgun/v3/${encodeURIComponent(params.domain ?? '')}/${path}`;
  const limit = String(pageOf(request).limit);
  const link = (given: Texts) => `${base}?${new URLSearchParams({ ...given, limit })}`;
  const first = link({ page: 'first' });
  const isPlace = Object.values(place).every((part) => part !== '');
  return { first, next: isPlace ? link({ page: 'next', ...place }) : first };
}

async function listSuppressed(
  request: DropInRequest,
  { name, reason }: SuppressionList,
  view: (entry: Suppression) => object,
) {
  const { kysely, accountId, query } = request;
  const { limit, isNext } = pageOf(request);
  const given = { address: query.get('address') ?? '', at: query.get('at') ?? '' };
  const readAfter = () => {
    const createdText = readPlace(given.at);
    return { createdText, address: suppressed.parseAddress(given.address), reason };
  };
  const after = isNext ? readAfter() : undefined;
  const entries = await findSuppressions(kysely, accountId, { reason, after, limit });
  const last = entries.at(-1);
  const place = last ? { address: last.address, at: writePlace(last.createdText) } : given;
  return ok({
    items: suppressed.current(request, entries).map(view),
    paging: pagesOf(request, name, place),
  });
}

/** Seconds since the epoch, with microseconds, of a time as PostgreSQL writes it. */
function writePlace(createdText: string): string {
  const [, whole = '', micros = '', zone = ''] =
    /^(.{16}:\d\d)(?:\.(\d{1,6}))?([+-][\d:]{2,8})$/.exec(createdText) ?? [];
  return `${Date.parse(`${whole}${zone}`) / 1_000}.${micros.padEnd(6, '0')}`;
}

function readPlace(text: string): string {
  const [, seconds, micros] = /^(\d{1,11})\.(\d{6})$/.exec(text) ?? [];
  if (seconds === undefined) throw invalidMember('at', 'is not one that this call returned');
  const time = new Date(Number(seconds) * 1_000).toISOString();
  return time.replace('.000Z', `.${micros}Z`);
}

async function addSuppressed(request: DropInRequest, { name, reason, members }: SuppressionList) {
  const type = request.headers['content-type'];
  const given = isJsonType(type) ? sending.readJson(request).value : await readFormMembers(request);
  const items = Array.isArray(given) ? given : [given];
  if (items.length === 0 || items.length > maxAdded)
    throw invalidMember('', `a request can have 1 to ${maxAdded} addresses`);
  const addresses = items.map((item, index) => {
    const place = Array.isArray(given) ? `[${index}].` : '';
    const entry = members.read(item, place);
    return suppressed.parseAddress(entry.address, `${place}address`);
  });
  for (const address of addresses) await suppressed.add(request, { address, reason });
  const many = addresses.length === 1 ? 'address has' : 'addresses have';
  return ok({ message: `${addresses.length} ${many} been added to the ${name} table` });
}

function viewTemplate({ id, name, changedAt }: TemplateFacts) {
  return { name: id, description: name, createdAt: changedAt.toUTCString(), createdBy: '', id };
}

async function listTemplates(request: DropInRequest) {
  const { kysely, accountId, query } = request;
  const { limit, isNext } = pageOf(request);
  const given = parseTemplateId(query.get('p') ?? '') ?? '';
  const range = { after: isNext ? given : '', limit };
  const page = await readTemplateFacts(kysely, accountId, range);
  const paging = pagesOf(request, 'templates', { p: page.at(-1)?.id ?? given });
  return ok({ items: page.map(viewTemplate), paging });
}

async function getTemplate(request: DropInRequest) {
  const { params, query } = request;
  const active = query.get('active') ?? 'no';
  if (!['yes', 'no'].includes(active)) throw invalidMember('active', 'must be yes or no');
  const found = await sending.readTemplate(request, params.name);
  if (found === undefined) throw new DropInRefusal('NOT_FOUND', 'template not found');
  const { facts, published } = found;
  if (active === 'no' || published === undefined) return ok({ template: viewTemplate(facts) });
  const { version, createdAt, source } = published;
  const content = {
    tag: String(version),
    engine: 'handlebars',
    mjml: source.mjml ?? '',
    createdAt: createdAt.toUTCString(),
    comment: '',
    active: true,
    id: `${facts.id}-${version}`,
    template: source.html ?? source.text ?? '',
    headers: { Subject: source.subject },
  };
  return ok({ template: { ...viewTemplate(facts), version: content } });
}

const messageBody = { ...withAttachments, bodyBytes: maxFormTextBytes };

/** Mailgun's API (https://documentation.mailgun.com/docs/mailgun/api-reference), as version 14 of its SDK calls it. */
export const mailgun = defineDropIn({
  name: 'mailgun',
  keyOf: ({ authorization = '' }) => {
    const [, encoded = ''] = /^basic +([A-Za-z0-9+/_-]{1,1000}=*) *$/i.exec(authorization) ?? [];
    return /^api:(\S+)$/.exec(Buffer.from(encoded, 'base64').toString())?.[1];
  },
  calls: {
    'POST /v3/:domain/messages messages:send: send an email, now or later, from its content or a template, or one to each recipient':
      { answer: send, ...messageBody, members: { '': messageTable }, names: messageNames },
    'GET /v3/:domain/templates?limit&page&p templates:read: list the account’s templates; their names are their IDs':
      listTemplates,
    'GET /v3/:domain/templates/:name?active templates:read: read a template, with its published version if `active` is `yes`':
      getTemplate,
    ...Object.assign({}, ...lists.map(callsOf)),
  },
  describeError: describeMailgunError,
  environment: (url, key) => ({ MAILGUN_API_KEY: key, MAILGUN_URL: url }),
});

/** Statuses that differ from those of the send operation. */
const errorStatuses: ErrorTable<number> = {
  MISSING_PERMISSION: 403,
  ACCOUNT_SUSPENDED: 403,
  INVALID_ID: 404,
  SENDER_NOT_ALLOWED: 403,
  IDEMPOTENCY_MISMATCH: 409,
};

function describeMailgunError({ kind, status, message }: DropInError) {
  // `h:` and `v:` are prefixes of the names that follow.
  const text = message.replaceAll(/\b([hv]:)\./gi, '$1');
  return ok({ message: text }, errorStatuses[kind] ?? status);
}
