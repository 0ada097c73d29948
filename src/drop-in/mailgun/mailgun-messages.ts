import { Type } from 'typebox';
import type { EmailAddress } from '../../base/values/email-address.ts';
import { Fault, type FaultDetail } from '../../base/values/errors.ts';
import { formatBytes, mebibyte } from '../../host/http/limits/route-limits.ts';
import { limitDetails } from '../../sending/submission/describe-body-problems.ts';
import type { ContentMessage, Mailbox } from '../../sending/submission/send-content.ts';
import { invalidMembers, MemberTable, mapped, refused, supported } from '../provider/members.ts';
import { readMailbox, readMailboxes } from '../provider/read-mailboxes.ts';
import { type ProviderMessage, typeOfFile } from '../provider/send-messages.ts';
import type { FormFile, SubmittedForm } from './form-data.ts';

/** Of a batch, as Mailgun has it. */
const maxBatchRecipients = 1_000;
/** Texts and files of all messages of a batch: each is stored for itself. */
const maxBatchBytes = 64 * mebibyte;
/** Characters of one message with its variables. */
const maxFilledLength = mebibyte;

const Text = Type.String();
const Address = Type.String({ maxLength: 2_000 });
const Addresses = Type.Array(Type.String(), { maxItems: maxBatchRecipients });
const Files = Type.Array(Type.Unsafe<FormFile>({ type: 'object' }), { maxItems: 100 });
const Fields = Type.Unsafe<Readonly<Record<string, string>>>({
  type: 'object',
  additionalProperties: { type: 'string' },
});
const Switch = Type.Enum(['yes', 'no', 'true', 'false']);
const Yes = Type.Enum(['yes', 'true']);
const No = Type.Enum(['no', 'false']);

const noRegions = 'isn’t supported; Signalpost sends from the addresses that its operator sets';
const noHours = 'isn’t supported; give `o:deliverytime` instead';

const options = {
  'o:tag': mapped(
    Type.Array(Type.String({ maxLength: 200 }), { maxItems: 10 }),
    'groups messages in reports, up to 48 characters; further tags become the attributes `tag-2`, `tag-3`…',
  ),
  'o:testmode': mapped(
    Switch,
    'delivers to the account’s inbox only, as a [test key](../test-email.md) does',
  ),
  'o:deliverytime': mapped(
    Type.String({ maxLength: 100 }),
    'is a time as in RFC 2822, up to 365 days ahead',
  ),
  'o:tracking': mapped(Switch, 'is both of the following; tracking is off unless asked for'),
  'o:tracking-opens': supported(Switch),
  'o:tracking-clicks': mapped(
    Type.Enum(['yes', 'no', 'true', 'false', 'htmlonly']),
    'tracks links of the HTML only',
  ),
  'o:dkim': mapped(Yes, 'can be `yes`; every message is signed'),
  'o:require-tls': mapped(No, 'can be `no`; an operator requires TLS for the receiving domain'),
  'o:skip-verification': mapped(No, 'can be `no`'),
  'o:campaign': refused('isn’t supported; use `o:tag`'),
  'o:deliverytime-optimize-period': refused(noHours),
  'o:time-zone-localize': refused(noHours),
  'o:sending-ip': refused(noRegions),
  'o:sending-ip-pool': refused(noRegions),
  'v:*': mapped(
    Fields,
    'become attributes: up to 20, with names of 40 and values of 200 characters',
  ),
};

const noMime = 'isn’t supported here; use `/messages`';
const fileNote = 'has the type of its part, or of its extension';

/** The form of `/messages`. */
export const messageMembers = new MemberTable({
  from: supported(Address),
  to: mapped(
    Addresses,
    'can be repeated or separated by commas; with `cc` and `bcc` up to 150, with `recipient-variables` up to 1,000',
  ),
  cc: supported(Addresses),
  bcc: supported(Addresses),
  subject: supported(Text),
  text: supported(Text),
  html: supported(Text),
  attachment: mapped(Files, fileNote),
  inline: mapped(Files, `${fileNote}; the HTML shows it as \`cid:\` with its file name`),
  template: mapped(
    Type.String({ maxLength: 200 }),
    'is the ID of a published template of the account; `signalpost import` makes it the name',
  ),
  't:variables': mapped(
    Text,
    'become values of its fields: numbers as text, `false` and `null` as empty text',
  ),
  't:text': mapped(Yes, 'can be `yes`; messages from templates always have a text part'),
  't:version': refused('isn’t supported; the published version is sent'),
  'recipient-variables': mapped(
    Text,
    'replace `%recipient.…%` in subject, text, HTML, headers and variables, unescaped; one without a value is refused',
  ),
  'h:*': mapped(
    Fields,
    'can be `Reply-To` (verified senders), `X-Mailgun-Variables` (as `t:variables`, or as `v:` without a template), `X-…`, `List-…` except unsubscribe, `References`, `In-Reply-To`, `Importance` and `Feedback-ID`',
  ),
  ...options,
  'amp-html': refused('isn’t supported; send `html`'),
});

/** The form of `/messages.mime`. */
export const mimeMembers = new MemberTable({
  to: mapped(Addresses, 'are all recipients, up to 150, also those of Cc and Bcc'),
  message: mapped(
    Type.Union([Text, Files.items]),
    'is sent as it is, without its `Bcc`; its `From` is the sender',
  ),
  from: mapped(Address, 'must be the address of the message’s `From`'),
  subject: mapped(Text, 'must be the message’s subject'),
  ...options,
  cc: refused('isn’t supported here; give all recipients in `to`'),
  bcc: refused('isn’t supported here; give all recipients in `to`'),
  'h:*': refused('isn’t supported here; write the fields into the message'),
  template: refused(noMime),
  'recipient-variables': refused(noMime),
});

/** The members of the forms by those of the send body. */
export const messageNames = {
  'envelope.toAddress': 'to',
  'envelope.toDisplayName': 'to',
  'envelope.ccAddressList': 'cc',
  'envelope.bccAddressList': 'bcc',
  'envelope.fromAddress': 'from',
  'envelope.fromDisplayName': 'from',
  'envelope.replyToAddress': 'h:Reply-To',
  envelope: 'to, cc and bcc',
  content: 'html or text',
  'content.subjectLine': 'subject',
  'content.html': 'html',
  'content.text': 'text',
  'content.headers': 'h:',
  'content.attachments': 'attachment',
  'content.personalizationDataMap': 't:variables',
  'metadata.attributes': 'v:',
  'metadata.tagList': 'o:tag',
  'actions.sendAt': 'o:deliverytime',
  'actions.trackOpens': 'o:tracking-opens',
  'actions.trackClicks': 'o:tracking-clicks',
  templateId: 'template',
} as const;

const lists = ['to', 'cc', 'bcc', 'attachment', 'inline', 'o:tag'];
const isChoice = /^(?:o:(?!tag$|deliverytime$)|t:text$)/;

/** The form as an object: `h:` and `v:` fields are together. @throws Fault VALIDATION_FAILED */
export function toMembers(form: SubmittedForm): Readonly<Record<string, unknown>> {
  const groups = new Map<string, [string, unknown][]>();
  const members: [string, unknown][] = [];
  for (const [name, values] of form) {
    const prefix = /^[hv]:/.exec(name)?.[0];
    const [value] = values;
    if (values.length > 1 && !lists.includes(name))
      throw invalidMembers([{ field: name, reason: 'is given more than once' }]);
    if (prefix !== undefined) {
      const group = groups.get(`${prefix}*`) ?? [];
      groups.set(`${prefix}*`, [...group, [name.slice(2), value]]);
    } else if (lists.includes(name)) members.push([name, values]);
    else if (isChoice.test(name) && typeof value === 'string')
      members.push([name, value.toLowerCase()]);
    else members.push([name, value]);
  }
  for (const [name, group] of groups) members.push([name, Object.fromEntries(group)]);
  return Object.fromEntries(members);
}

type Choice = 'yes' | 'no' | 'true' | 'false' | 'htmlonly';

interface OptionMembers {
  readonly 'o:tag'?: readonly string[];
  readonly 'o:testmode'?: Choice;
  readonly 'o:deliverytime'?: string;
  readonly 'o:tracking'?: Choice;
  readonly 'o:tracking-opens'?: Choice;
  readonly 'o:tracking-clicks'?: Choice;
  readonly 'v:*'?: Readonly<Record<string, string>>;
}

/** What both forms say about the way of a message. */
export function readOptions(members: OptionMembers, details: FaultDetail[]) {
  const [tag, ...moreTags] = members['o:tag'] ?? [];
  const tags = moreTags.map((text, index) => [`tag-${index + 2}`, text]);
  const attributes = { ...members['v:*'], ...Object.fromEntries(tags) };
  const tracking = members['o:tracking'];
  return {
    isTest: isYes(members['o:testmode']),
    tag,
    attributes: Object.keys(attributes).length === 0 ? undefined : attributes,
    sendAt: readTime(members['o:deliverytime'], details),
    trackOpens: isYes(members['o:tracking-opens'] ?? tracking),
    trackClicks: isYes(members['o:tracking-clicks'] ?? tracking),
  };
}

function isYes(choice: Choice | undefined): boolean {
  return choice === 'yes' || choice === 'true' || choice === 'htmlonly';
}

const hasZone = /(?:[+-]\d{2}:?\d{2}|\b(?:GMT|UTC?)|\dZ)$/i;

/** @returns RFC 3339 */
function readTime(text: string | undefined, details: FaultDetail[]): string | undefined {
  if (text === undefined) return undefined;
  const time = hasZone.test(text.trim()) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  const reason = 'must be a time such as Fri, 14 Oct 2026 23:10:10 +0000';
  details.push({ field: 'o:deliverytime', reason });
  return undefined;
}

/** A message, or one for each recipient of a batch. */
export interface MailgunSend {
  readonly from: EmailAddress;
  readonly isTest: boolean;
  /** Of a batch: each gets a message of their own. */
  readonly recipients: readonly Mailbox[] | undefined;
  /** @throws Fault PERSONALIZATION_FAILURE if a variable has no value */
  readonly messageTo: (recipient: Mailbox | undefined) => ProviderMessage;
}

/**
 * Translates the form of `/messages`.
 * @throws Fault VALIDATION_FAILED with its members
 */
export function readMailgunMessage(form: SubmittedForm): MailgunSend {
  const email = messageMembers.read(toMembers(form));
  const details: FaultDetail[] = [];
  const add = (field: string, reason: string): void => void details.push({ field, reason });
  const { isTest, attributes, ...way } = readOptions(email, details);
  if (email.from === undefined) add('from', 'is required');
  const from = email.from === undefined ? undefined : readMailbox(email.from, 'from', details);
  const to = readRecipients(email.to, 'to', details);
  const cc = readRecipients(email.cc, 'cc', details);
  const bcc = readRecipients(email.bcc, 'bcc', details);
  const { replyTo, variables: headerVariables, headers } = readHeaders(email['h:*'], details);
  const files = [...readFiles(email, 'attachment'), ...readFiles(email, 'inline')];
  const { subject, html, text, template } = email;
  for (const [name, part] of Object.entries({ html, text }))
    if (part !== undefined && unsubscribeVariable.test(part))
      add(name, 'has %unsubscribe_url%, which Signalpost can’t fill; it adds unsubscribe headers');
  const people = readVariables(email['recipient-variables'], 'recipient-variables', details);
  const given = {
    ...headerVariables,
    ...readVariables(email['t:variables'], 't:variables', details),
  };
  if (to.length === 0) add('to', 'is required');
  if (template === undefined) {
    if (subject === undefined) add('subject', 'is required');
    for (const name of ['t:variables', 't:text'] as const)
      if (email[name] !== undefined) add(name, 'needs template');
  } else {
    for (const name of ['html', 'text'] as const)
      if (email[name] !== undefined) add(name, 'can’t be used with template');
    if (to.length > 1 && people === undefined)
      add('to', 'can’t have several addresses with template; use recipient-variables');
    if (replyTo.length > 1) add('h:Reply-To', 'can’t have several addresses with template');
  }
  if (people !== undefined) {
    for (const name of ['cc', 'bcc'] as const)
      if (email[name] !== undefined) add(name, 'can’t be used with recipient-variables');
  }
  if (details.length > 0 || from === undefined) throw invalidMembers(details);
  const variablesOf = new Map(
    Object.entries(people ?? {}).map(([address, own]) => [address.trim().toLowerCase(), own]),
  );
  const values = template === undefined ? {} : { ...email['v:*'], ...given };
  const facts =
    template === undefined ? { ...attributes, ...textsOf(headerVariables) } : attributes;
  const fixed = { subject, html, text, headers, values, attributes: facts };
  const fileBytes = files.reduce((sum, { content }) => sum + content.decoded.length, 0);
  const share = Math.min(maxFilledLength, maxBatchBytes / to.length - fileBytes);
  const budget = people === undefined ? 0 : share - JSON.stringify(fixed).length;
  if (budget < 0) throw invalidMembers([tooLarge]);
  return {
    from: from.address,
    isTest,
    recipients: people && to,
    messageTo: (recipient) => {
      const own = recipient === undefined ? fixed : fillFor(recipient, variablesOf, fixed, budget);
      const addresses = { from, to: recipient === undefined ? to : [recipient], cc, bcc, replyTo };
      if (template !== undefined)
        return toTemplateSend(template, { ...addresses, ...own, ...way, files });
      const { values: _, subject: title = '', ...content } = own;
      const attachments = files.map(({ placeholder: __, ...file }) => file);
      return { content: { ...addresses, ...content, subject: title, ...way, attachments } };
    },
  };
}

interface TemplateSend extends Omit<ContentMessage, 'subject' | 'values'> {
  readonly subject: string | undefined;
  readonly values: Readonly<Record<string, unknown>>;
  readonly files: readonly MessageFile[];
}

function toTemplateSend(templateId: string, message: TemplateSend): ProviderMessage {
  const { from, to, cc = [], bcc = [], replyTo = [], files, tag } = message;
  const { subject, values, headers, attributes, sendAt, trackOpens, trackClicks } = message;
  const body = {
    envelope: {
      toAddress: to[0]?.address,
      toDisplayName: to[0]?.name,
      ccAddressList: cc.map(({ address }) => address),
      bccAddressList: bcc.map(({ address }) => address),
      fromAddress: from.address,
      fromDisplayName: from.name,
      replyToAddress: replyTo[0]?.address,
    },
    content: {
      subjectLine: subject,
      personalizationDataMap: toTexts(values),
      headers,
      attachments: files.map(({ placeholder, content: _, ...file }) => ({
        ...file,
        content: placeholder,
      })),
    },
    metadata: { attributes, tagList: tag === undefined ? undefined : [tag] },
    actions: { sendAt, trackOpens, trackClicks },
  };
  const contents = new Map(files.map(({ placeholder, content }) => [placeholder, content]));
  return { templateId, contents, body: JSON.parse(JSON.stringify(body)) };
}

/** Lists of addresses, separated by commas outside of quotes. */
export function readRecipients(
  given: readonly string[] | undefined,
  field: string,
  details: FaultDetail[],
): Mailbox[] {
  const texts = given?.flatMap(splitAddresses) ?? [];
  if (texts.length <= maxBatchRecipients) return readMailboxes(texts, field, details);
  details.push({ field, reason: `has more than ${maxBatchRecipients} addresses` });
  return [];
}

function splitAddresses(text: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  let quoted = false;
  for (let at = 0; at <= text.length && pieces.length <= maxBatchRecipients; at += 1) {
    const character = text.charAt(at);
    if (character === '\\' && quoted) at += 1;
    else if (character === '"') quoted = !quoted;
    else if (character === '' || (character === ',' && !quoted)) {
      pieces.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return pieces.filter((piece) => piece !== '');
}

function readHeaders(given: Readonly<Record<string, string>> = {}, details: FaultDetail[]) {
  const named = (wanted: string): string | undefined =>
    Object.entries(given).find(([name]) => name.toLowerCase() === wanted)?.[1];
  const own = ['reply-to', 'x-mailgun-variables'];
  const headers = Object.entries(given).filter(([name]) => !own.includes(name.toLowerCase()));
  const reply = named('reply-to');
  return {
    replyTo: readRecipients(reply === undefined ? [] : [reply], 'h:Reply-To', details),
    variables: readVariables(named('x-mailgun-variables'), 'h:X-Mailgun-Variables', details),
    headers: headers.length === 0 ? undefined : Object.fromEntries(headers),
  };
}

interface MessageFile {
  readonly filename: string;
  readonly contentType: string;
  readonly contentId?: string;
  readonly content: { readonly decoded: Buffer };
  readonly placeholder: string;
}

function readFiles(
  given: { readonly [Name in 'attachment' | 'inline']?: readonly FormFile[] },
  name: 'attachment' | 'inline',
): MessageFile[] {
  return (given[name] ?? []).map(({ filename, contentType, content }, index) => ({
    filename,
    // What FormData writes for bytes says nothing.
    contentType: /^(?:application\/octet-stream)?$/.test(contentType)
      ? typeOfFile(filename)
      : contentType,
    ...(name === 'inline' && { contentId: filename }),
    content: { decoded: content },
    placeholder: `${name}[${index}]`,
  }));
}

/** An object in JSON. */
function readVariables(
  json: string | undefined,
  field: string,
  details: FaultDetail[],
): Readonly<Record<string, unknown>> | undefined {
  if (json === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Not an object either.
  }
  details.push({ field, reason: 'must be a JSON object' });
  return undefined;
}

/** Each value as text, lists and objects as JSON. */
function textsOf(values: Readonly<Record<string, unknown>> = {}): Record<string, string> {
  const texts = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return Object.fromEntries(texts);
}

const maxDepth = 10;

/** Values of a template's fields: text, or lists and objects of it. */
function toTexts(value: unknown, depth = 0): unknown {
  if (depth > maxDepth)
    throw invalidMembers([
      { field: 't:variables', reason: `is nested deeper than ${maxDepth} levels` },
    ]);
  if (Array.isArray(value)) return value.map((item) => toTexts(item, depth + 1));
  if (typeof value !== 'object' || value === null)
    return value === false || value === null ? '' : String(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, toTexts(item, depth + 1)]),
  );
}

const tooLarge: FaultDetail = {
  field: 'recipient-variables',
  reason: `makes more than ${formatBytes(maxBatchBytes)} of messages, or one of more than ${formatBytes(maxFilledLength)}; send several requests`,
};

const unsubscribeVariable = /%(?:tag_|mailing_list_)?unsubscribe_url%/;
const recipientVariable = /%recipient(?:\.([^%\s]{1,100}))?%/g;

/**
 * Fills in the variables of a recipient. Not escaped, as with Mailgun, whose values can have HTML.
 * @param budget characters that the variables can have
 */
function fillFor<Parts>(
  { address }: Mailbox,
  variablesOf: ReadonlyMap<string, unknown>,
  parts: Parts,
  budget: number,
): Parts {
  let left = budget;
  const spend = (text: string): string => {
    left -= text.length;
    if (left < 0) throw invalidMembers([tooLarge]);
    return text;
  };
  const own = variablesOf.get(address.toLowerCase());
  const missing = new Set<string>();
  const fill = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string')
      return value.replaceAll(recipientVariable, (whole, name: string | undefined) => {
        if (name === undefined) return spend(address);
        const found =
          typeof own === 'object' && own !== null && Object.hasOwn(own, name)
            ? (own as Record<string, unknown>)[name]
            : undefined;
        if (found === undefined || typeof found === 'object') missing.add(name);
        return spend(found === undefined ? whole : String(found));
      });
    if (typeof value !== 'object' || value === null || depth > maxDepth) return value;
    if (Array.isArray(value)) return value.map((item) => fill(item, depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, fill(item, depth + 1)]),
    );
  };
  const result = fill(parts, 0) as Parts;
  if (missing.size === 0) return result;
  const details = [...missing].map((name) => ({
    field: `recipient-variables.${address}.${name}`,
    reason: 'has no value',
  }));
  throw new Fault('PERSONALIZATION_FAILURE', { details: limitDetails(details) });
}
