import { type Static, Type } from 'typebox';
import type { FaultDetail } from '../../base/values/errors.ts';
import { MAX_FIELD_DEPTH } from '../../content/template/template-limits.ts';
import type { BodyJson } from '../../sending/submission/read-body-json.ts';
import type { Mailbox } from '../../sending/submission/send-content.ts';
import { invalidMembers, MemberTable, mapped, refused, supported } from '../provider/members.ts';
import { readMailbox } from '../provider/read-mailboxes.ts';
import { type ProviderMessage, typeOfFile } from '../provider/send-messages.ts';

/** Mailboxes in one text; far longer than 150 of them. */
const Addresses = Type.String({ maxLength: 50_000 });
const Anything = Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' });
const List = Type.Array(Anything, { maxItems: 100 });

export const onlyStream = 'can only be outbound: Signalpost has one stream';
const trackingOptions = ['None', 'HtmlOnly', 'HtmlAndText'];

/** What emails with a content and those from a template share. */
const sharedMembers = {
  From: supported(Type.String({ maxLength: 2_000 })),
  To: supported(Addresses),
  Cc: supported(Addresses),
  Bcc: supported(Addresses),
  ReplyTo: mapped(Addresses, 'needs verified senders'),
  Tag: mapped(Type.String(), 'has at most 48 characters'),
  Metadata: mapped(
    Type.Unsafe<Readonly<Record<string, string>>>({
      type: 'object',
      additionalProperties: { type: 'string' },
    }),
    'becomes attributes: up to 20, with names of 40 and values of 200 characters',
  ),
  Headers: mapped(
    List,
    'can be `X-…`, `List-…` except unsubscribe, `References`, `In-Reply-To`, `Importance` and `Feedback-ID`; the service writes its own unsubscribe headers',
  ),
  Attachments: supported(List),
  TrackOpens: mapped(Type.Boolean(), 'is false by default'),
  TrackLinks: mapped(
    Type.String({ maxLength: 100 }),
    'is `None` by default; otherwise the links of the HTML are tracked, and never those of the text',
  ),
  MessageStream: mapped(Type.String({ maxLength: 100 }), onlyStream),
} as const;

export const postmarkMembers = new MemberTable({
  ...sharedMembers,
  Subject: supported(Type.String()),
  HtmlBody: supported(Type.String()),
  TextBody: supported(Type.String()),
});

export const templatedMembers = new MemberTable({
  ...sharedMembers,
  From: mapped(sharedMembers.From.schema, 'is the sender of the template if it is absent'),
  To: mapped(Addresses, 'is one address; send an email to each'),
  TemplateId: mapped(
    Type.Integer(),
    'is the ID of a published template of the account; `signalpost import` makes it the alias, or Postmark’s ID',
  ),
  TemplateAlias: mapped(
    Type.String({ maxLength: 200 }),
    'is the ID of a published template of the account, as `signalpost import` writes it',
  ),
  TemplateModel: mapped(
    Anything,
    'becomes values of its fields: numbers and `true` as text, null and `false` as an empty text',
  ),
  InlineCss: mapped(
    Type.Boolean(),
    'can only be true: the CSS of a template is inlined when it is published',
  ),
});

export const fileMembers = new MemberTable({
  Name: supported(Type.String()),
  Content: supported(Type.String()),
  ContentType: mapped(Type.String(), 'is derived from the extension of `Name` if it is absent'),
  ContentID: mapped(Type.String(), 'may begin with `cid:`; makes it an inline part'),
  ContentLength: mapped(Type.Integer(), 'isn’t needed: the length of `Content` counts'),
  Disposition: refused('isn’t supported; an attachment with ContentID is inline, others aren’t'),
});

export const headerMembers = new MemberTable({
  Name: supported(Type.String()),
  Value: supported(Type.String()),
});

/** The members of Postmark's email by those of the send body. */
export const postmarkNames = {
  'envelope.toAddress': 'To',
  'envelope.toDisplayName': 'To',
  'envelope.ccAddressList': 'Cc',
  'envelope.bccAddressList': 'Bcc',
  'envelope.fromAddress': 'From',
  'envelope.fromDisplayName': 'From',
  'envelope.replyToAddress': 'ReplyTo',
  envelope: 'To, Cc and Bcc',
  content: 'HtmlBody or TextBody',
  'content.subjectLine': 'Subject',
  'content.html': 'HtmlBody',
  'content.text': 'TextBody',
  'content.headers': 'Headers',
  'content.attachments': 'Attachments',
  'content.personalizationDataMap': 'TemplateModel',
  'metadata.tagList': 'Tag',
  'metadata.tagList[0]': 'Tag',
  'metadata.attributes': 'Metadata',
  'actions.trackOpens': 'TrackOpens',
  'actions.trackClicks': 'TrackLinks',
  templateId: 'TemplateId or TemplateAlias',
  messages: 'Messages',
} as const;

/** Reads an email of Postmark's API. @param contents of its attachments, by their placeholders */
export type ReadEmail = (value: unknown, contents: BodyJson['contents']) => ProviderMessage;

type Shared = {
  readonly [Name in keyof typeof sharedMembers]?: Static<(typeof sharedMembers)[Name]['schema']>;
};

/**
 * Translates an email with its content.
 * @throws Fault VALIDATION_FAILED with the members of Postmark's email
 */
export const readContentEmail: ReadEmail = (value, contents) => {
  const email = postmarkMembers.read(value);
  const details: FaultDetail[] = [];
  const { from, tag, replyTo, attachments, ...shared } = readShared(email, contents, details);
  if (from === undefined) details.push({ field: 'From', reason: 'is required' });
  if (from === undefined || details.length > 0) throw invalidMembers(details);
  const { Subject: subject = '', HtmlBody: html, TextBody: text } = email;
  const files = attachments?.map(({ placeholder: _, ...file }) => file);
  return {
    content: {
      ...shared,
      from,
      replyTo,
      tag,
      attachments: files,
      subject,
      html: emptyToUndefined(html),
      text: emptyToUndefined(text),
    },
  };
};

/**
 * Translates an email from a template.
 * @throws Fault VALIDATION_FAILED with the members of Postmark's email
 */
export const readTemplated: ReadEmail = (value, contents) => {
  const email = templatedMembers.read(value);
  const details: FaultDetail[] = [];
  const { to, replyTo, attachments, ...shared } = readShared(email, contents, details);
  const { from, cc, bcc, tag, headers, attributes, trackOpens, trackClicks } = shared;
  const { TemplateId: number, TemplateAlias: alias, TemplateModel: model } = email;
  if ((number === undefined) === (alias === undefined))
    details.push({ field: 'TemplateId or TemplateAlias', reason: 'is required, and not both' });
  if (email.InlineCss === false)
    details.push({ field: 'InlineCss', reason: templatedMembers.members.InlineCss.note });
  if (to.length > 1)
    details.push({ field: 'To', reason: 'can’t have several addresses; send an email to each' });
  if (replyTo.length > 1)
    details.push({ field: 'ReplyTo', reason: 'can’t have several addresses with a template' });
  if (details.length > 0) throw invalidMembers(details);
  const files = attachments?.map(({ placeholder, ...file }) => ({ ...file, content: placeholder }));
  return {
    templateId: alias ?? String(number),
    contents,
    body: withoutUndefined({
      envelope: withoutUndefined({
        toAddress: to[0]?.address,
        toDisplayName: to[0]?.name,
        ccAddressList: cc.map(({ address }) => address),
        bccAddressList: bcc.map(({ address }) => address),
        fromAddress: from?.address,
        fromDisplayName: from?.name,
        replyToAddress: replyTo[0]?.address,
      }),
      content: withoutUndefined({
        personalizationDataMap: toValues(model ?? {}),
        headers,
        attachments: files,
      }),
      metadata: withoutUndefined({ attributes, tagList: tag === undefined ? undefined : [tag] }),
      actions: { trackOpens, trackClicks },
    }),
  };
};

function readShared(email: Shared, contents: BodyJson['contents'], details: FaultDetail[]) {
  const list = (name: 'To' | 'Cc' | 'Bcc' | 'ReplyTo') => readList(email[name], name, details);
  const { From, TrackLinks = 'None', TrackOpens = false } = email;
  const to = list('To');
  if (to.length === 0) details.push({ field: 'To', reason: 'is required' });
  if (!trackingOptions.includes(TrackLinks))
    details.push({ field: 'TrackLinks', reason: `must be one of ${trackingOptions.join(', ')}` });
  if ((email.MessageStream ?? 'outbound') !== 'outbound')
    details.push({ field: 'MessageStream', reason: onlyStream });
  return {
    from: From === undefined ? undefined : readMailbox(From, 'From', details),
    to,
    cc: list('Cc'),
    bcc: list('Bcc'),
    replyTo: list('ReplyTo'),
    tag: emptyToUndefined(email.Tag),
    attributes: email.Metadata,
    headers: readHeaders(email.Headers, details),
    attachments: readFiles(email.Attachments, contents, details),
    trackOpens: TrackOpens,
    trackClicks: TrackLinks !== 'None',
  };
}

/** Reads mailboxes that are separated by commas. */
function readList(text: string | undefined, field: string, details: FaultDetail[]): Mailbox[] {
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  const given = text ?? '';
  for (let at = 0; at <= given.length; at += 1) {
    const character = given.charAt(at);
    if (character === '\\' && isQuoted) at += 1;
    else if (character === '"') isQuoted = !isQuoted;
    else if (at === given.length || (character === ',' && !isQuoted)) {
      parts.push(given.slice(start, at).trim());
      start = at + 1;
    }
  }
  if (isQuoted) details.push({ field, reason: 'has a quote without an end' });
  return parts.filter((part) => part !== '').map((part) => readMailbox(part, field, details));
}

function readHeaders(
  headers: readonly unknown[] | undefined,
  details: FaultDetail[],
): Readonly<Record<string, string>> | undefined {
  if (headers === undefined) return undefined;
  const found = new Map<string, string>();
  headers.forEach((header, index) => {
    const field = `Headers[${index}].Name`;
    const { Name: name, Value: value = '' } = headerMembers.read(header, `Headers[${index}].`);
    if (name === undefined) details.push({ field, reason: 'is required' });
    else if (found.has(name)) details.push({ field, reason: 'is given twice' });
    else found.set(name, value);
  });
  return Object.fromEntries(found);
}

function readFiles(
  attachments: readonly unknown[] | undefined,
  contents: BodyJson['contents'],
  details: FaultDetail[],
) {
  return attachments?.map((attachment, index) => {
    const place = `Attachments[${index}].`;
    const file = fileMembers.read(attachment, place);
    for (const name of ['Name', 'Content'] as const)
      if (file[name] === undefined) details.push({ field: place + name, reason: 'is required' });
    const { Name: filename = '', Content: content = '', ContentType, ContentID = '' } = file;
    const contentId = ContentID.replace(/^cid:/i, '');
    return {
      filename,
      contentType: ContentType ?? typeOfFile(filename),
      ...(contentId !== '' && { contentId }),
      content: contents?.get(content) ?? content,
      placeholder: content,
    };
  });
}

/** Values of fields, which are texts, lists and objects. What is deeper than fields can be is left for the check of the body. */
function toValues(model: Readonly<Record<string, unknown>>, depth = 0): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(model).map(([name, value]) => [name, toValue(value, depth)]),
  );
}

function toValue(value: unknown, depth: number): unknown {
  if (value === null || value === false) return '';
  if (typeof value !== 'object') return String(value);
  if (depth > MAX_FIELD_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item) => toValue(item, depth + 1));
  return toValues(value as Readonly<Record<string, unknown>>, depth + 1);
}

function emptyToUndefined(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

function withoutUndefined(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
