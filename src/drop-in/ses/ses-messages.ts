import { Type } from 'typebox';
import type { FaultDetail } from '../../base/values/errors.ts';
import type { HeaderMailbox } from '../../content/rendering/message-headers.ts';
import { DropInRefusal } from '../provider/drop-in-request.ts';
import { namesOf, type ProviderMessage, pascal, readObject, toMessage } from '../provider/mail.ts';
import {
  attributesNote,
  headersNote,
  invalidMember,
  invalidMembers,
  MemberTable,
  plain,
} from '../provider/members.ts';
import type { Place } from '../provider/place.ts';
import { readMailboxes } from '../provider/read-mailboxes.ts';
import type { ProviderJson } from '../provider/sending.ts';
import { readQueryForm } from './query-form.ts';

const Charset = Type.String({ pattern: '^([Uu][Tt][Ff]-?8|[Uu][Ss]-[Aa][Ss][Cc][Ii][Ii])$' });

const pairTable = new MemberTable({ Name: 'text', Value: 'text' });
const textTable = new MemberTable(
  { Data: 'text', Charset: 'charset: can be UTF-8 or US-ASCII; mail is sent as UTF-8' },
  { charset: plain(Charset) },
);
const fileTable = new MemberTable(
  {
    FileName: 'text as filename',
    RawContent: 'text as content',
    ContentType: 'text: is derived from the extension of `FileName` if it is absent',
    ContentId: 'text',
    ContentDisposition:
      'disposition as disposition: is `INLINE` with `ContentId` and `ATTACHMENT` without',
    ContentTransferEncoding: 'encoding: can be `BASE64`',
    ContentDescription: 'refused: isn’t supported; remove it',
  },
  {
    disposition: plain(Type.Enum(['ATTACHMENT', 'INLINE'])),
    encoding: plain(Type.Enum(['BASE64'])),
  },
);
const files = fileTable.asList(100, 'filename', 'content');

const shapes = {
  people: {
    schema: Type.Array(Type.String({ maxLength: 2_000 }), { maxItems: 50 }),
    read: readMailboxes,
  },
  pairs: pairTable.asPairs(50),
  part: {
    schema: Type.Unsafe<object>({ type: 'object' }),
    read: (part: object, { field, details }: Place) =>
      textTable.read(part, `${field}.`, details).data,
  },
  files: {
    schema: files.schema,
    read(list: readonly unknown[], place: Place) {
      const found = files.read(list, place);
      for (const [index, { disposition, contentId }] of found.entries())
        if (disposition && (disposition === 'INLINE') !== (contentId !== undefined)) {
          const reason = 'is INLINE with ContentId, ATTACHMENT without';
          place.refuse(reason, `[${index}].ContentDisposition`);
        }
      return found;
    },
  },
  values: {
    schema: Type.String(),
    read(json: string, place: Place): Readonly<Record<string, unknown>> {
      const pairs = Object.entries(readObject(json, place)).map(([name, one]) => [
        name,
        typeof one === 'object' ? one : String(one),
      ]);
      return Object.fromEntries(pairs);
    },
  },
};

const notes = {
  raw: 'is sent as it is, without its `Bcc`; its `From` is the sender; `X-SES-CONFIGURATION-SET` and `X-SES-MESSAGE-TAGS` count as their members, other `X-SES-…` fields are refused',
  template: 'is the ID of a published template of the account',
  values: 'becomes values of its fields, numbers and booleans as text',
  tag: 'becomes the tag that groups messages in reports, up to 48 characters',
} as const;
const noIdentities = 'refused: isn’t supported, because a key sends only for its own account';
const noReturnPath =
  'refused: isn’t supported, because bounces come back to Signalpost; read them in webhooks';

const destinationTable = new MemberTable(
  { ToAddresses: 'people as to', CcAddresses: 'people as cc', BccAddresses: 'people as bcc' },
  shapes,
);
const bodyTable = new MemberTable({ Text: 'part', Html: 'part' }, shapes);
const simpleTable = new MemberTable(
  { Subject: 'part', Body: 'body', Headers: `pairs: ${headersNote}`, Attachments: 'files' },
  { ...shapes, body: bodyTable.asObject() },
);
const rawTable = new MemberTable({ Data: `text: ${notes.raw}` });
const ownTable = new MemberTable({ Subject: 'text', Html: 'text', Text: 'text' });
const templateTable = new MemberTable(
  {
    TemplateName: `short as templateId: ${notes.template}`,
    TemplateContent: 'own as own: is filled as Signalpost’s templates are',
    TemplateData: `values as values: ${notes.values}`,
    Headers: `pairs: ${headersNote}`,
    Attachments: 'files',
    TemplateArn: noIdentities,
  },
  { ...shapes, own: ownTable.asObject('subject') },
);
const contents = {
  ...shapes,
  simple: simpleTable.asObject('subject'),
  raw: rawTable.asObject('data'),
  template: templateTable.asObject(),
  destination: destinationTable.asObject(),
};
const contentTable = new MemberTable(
  { Simple: 'simple', Raw: 'raw', Template: 'template' },
  contents,
);
const emailTable = new MemberTable(
  {
    FromEmailAddress: 'mailbox as from',
    Destination: 'destination',
    ReplyToAddresses: 'people as replyTo: needs verified senders; not with `Raw`',
    Content: 'content',
    EmailTags: `pairs as attributes: ${attributesNote}`,
    ConfigurationSetName: `short as tag: ${notes.tag}`,
    FromEmailAddressIdentityArn: noIdentities,
    FeedbackForwardingEmailAddress: noReturnPath,
    FeedbackForwardingEmailAddressIdentityArn: noReturnPath,
    ListManagementOptions:
      'refused: isn’t supported, because Signalpost has no contact lists of topics; it writes unsubscribe links itself',
    EndpointId: 'refused: isn’t supported, because Signalpost has no regions',
    TenantName: 'refused: isn’t supported; use an account for each tenant',
  },
  { ...contents, content: contentTable.asObject() },
);

/** The objects of SendEmail in version 2. */
export const sendMembers = {
  '': emailTable,
  Destination: destinationTable,
  Content: contentTable,
  'Content.Simple': simpleTable,
  'Content.Simple.Body': bodyTable,
  'Content.Simple.Subject': textTable,
  'Content.Simple.Body.Text': textTable,
  'Content.Simple.Body.Html': textTable,
  'Content.Raw': rawTable,
  'Content.Template': templateTable,
  'Content.Template.TemplateContent': ownTable,
  'Headers[]': pairTable,
  'Attachments[]': fileTable,
  'EmailTags[]': pairTable,
};

/** The members of SendEmail by those of the send body. */
export const sendNames = namesOf(
  {
    ...emailTable.names,
    to: 'Destination.ToAddresses',
    cc: 'Destination.CcAddresses',
    bcc: 'Destination.BccAddresses',
    envelope: 'Destination',
    values: 'Content.Template.TemplateData',
    templateId: 'Content.Template.TemplateName',
  },
  pascal,
);

const common = {
  Source: 'mailbox as from',
  Tags: `pairs as attributes: ${attributesNote}`,
  ConfigurationSetName: `short as tag: ${notes.tag}`,
  SourceArn: noIdentities,
  ReturnPathArn: noIdentities,
} as const;
const composed = {
  ...common,
  Destination: 'destination',
  ReplyToAddresses: 'people as replyTo: needs verified senders',
  ReturnPath: noReturnPath,
} as const;
/** The forms of version 1 by their action. */
export const queryTables = {
  SendEmail: new MemberTable({ ...composed, Message: 'simple as simple' }, contents),
  SendRawEmail: new MemberTable(
    {
      ...common,
      Destinations: 'people as to',
      RawMessage: `raw as raw: has \`Data\`, which ${notes.raw}`,
      FromArn: noIdentities,
    },
    contents,
  ),
  SendTemplatedEmail: new MemberTable(
    {
      ...composed,
      Template: `short as templateId: ${notes.template}`,
      TemplateData: `values as values: ${notes.values}`,
      TemplateArn: noIdentities,
    },
    contents,
  ),
};

/** What their content is called, if it must be there. */
const queryContents: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  SendEmail: { Message: {} },
  SendRawEmail: { RawMessage: {} },
};

/** The members of version 1 by those of the send body, and of version 2 where complete messages are sent. */
export const queryNames = {
  ...namesOf(
    {
      ...queryTables.SendTemplatedEmail.names,
      to: 'Destination.ToAddresses',
      cc: 'Destination.CcAddresses',
      bcc: 'Destination.BccAddresses',
      envelope: 'Destination',
      content: 'Message',
    },
    pascal,
  ),
  FromEmailAddress: 'Source',
  'Content.Raw': 'RawMessage',
};

/** What a complete message is sent with. */
export interface SesRaw {
  /** Base64. */
  readonly data: string | Buffer;
  readonly from?: HeaderMailbox;
  /** Undefined: those of its header. */
  readonly recipients?: readonly HeaderMailbox[];
  readonly attributes?: Readonly<Record<string, string>>;
  readonly tag?: string;
}

type Read<Table extends { read(value: unknown): unknown }> = ReturnType<Table['read']>;

/** An email of either version. */
type SesEmail = Omit<Read<typeof emailTable>, 'content'> & Read<typeof contentTable>;

/**
 * Translates SendEmail of version 2.
 * @param json with contents of attachments and of a complete message
 * @throws Fault VALIDATION_FAILED with its members
 */
export function readSend({ value, contents }: ProviderJson): ProviderMessage | SesRaw {
  const details: FaultDetail[] = [];
  const { content = {}, ...email } = emailTable.read(value, '', details);
  if (Object.keys(content).length !== 1)
    throw invalidMember('Content', 'must have one of Simple, Raw and Template');
  return toSend({ ...email, ...content }, details, contents);
}

function toSend(
  { destination, simple, raw, template, ...email }: SesEmail,
  details: FaultDetail[],
  contents: ProviderJson['contents'],
): ProviderMessage | SesRaw {
  const refuse = (field: string, reason: string, isWrong: boolean): void => {
    if (isWrong) details.push({ field, reason });
  };
  const { to = [], cc = [], bcc = [] } = destination ?? {};
  if (raw !== undefined) {
    const { replyTo = [], ...facts } = email;
    const isReply = replyTo.length > 0;
    refuse('ReplyToAddresses', 'can’t be used with Raw; write a Reply-To field', isReply);
    if (details.length > 0) throw invalidMembers(details);
    const { data = '' } = raw;
    const recipients = destination && [...to, ...cc, ...bcc];
    return { ...facts, data: contents?.get(data) ?? data, recipients };
  }
  const { values = {}, own, ...stored } = template ?? {};
  const isStored = stored.templateId !== undefined;
  if (template !== undefined && isStored === (own !== undefined))
    throw invalidMember('Content.Template', 'must have TemplateName or TemplateContent');
  const hasLists = Object.values(values).some((one) => typeof one !== 'string');
  const noLists = 'can’t have lists and objects with TemplateContent';
  refuse('Content.Template.TemplateData', noLists, own !== undefined && hasLists);
  const oneAddress = 'must have one address with Template; send an email to each';
  const isNobody = to.length + cc.length + bcc.length === 0;
  refuse('Destination', 'is required', isNobody);
  refuse('Destination.ToAddresses', oneAddress, !isNobody && isStored && to.length !== 1);
  if (details.length > 0) throw invalidMembers(details);
  const { body, ...parts } = { ...simple, ...stored };
  const mail = { ...email, ...destination, ...parts, ...body, ...own };
  return toMessage({ ...mail, ...(template && { values }) }, details, contents);
}

/** Where an empty text is an empty list. */
const lists = /^(ReplyTo|To|Cc|Bcc)Addresses$|^Tags$|^Destinations$/;

function withoutEmptyLists(object: unknown): Record<string, unknown> {
  const isGiven = ([name, value]: [string, unknown]) => value !== '' || !lists.test(name);
  return Object.fromEntries(Object.entries(Object(object)).filter(isGiven));
}

type QueryEmail = SesEmail & Read<typeof templateTable> & Read<typeof destinationTable>;

/**
 * Translates a form of version 1.
 * @throws DropInRefusal UNSUPPORTED_CALL or Fault VALIDATION_FAILED
 */
export async function readQuerySend(body: Buffer) {
  const { Action: action = '', Version: _, ...form } = await readQueryForm(body);
  const name = typeof action === 'string' ? action.slice(0, 100) : '';
  if (!Object.hasOwn(queryTables, name)) {
    const reason =
      name === '' ? 'The form has no Action.' : `${name} isn’t supported by Signalpost.`;
    throw new DropInRefusal('UNSUPPORTED_CALL', reason);
  }
  const given = { ...queryContents[name], ...withoutEmptyLists(form) };
  if (given.Destination !== undefined) given.Destination = withoutEmptyLists(given.Destination);
  const message = Object(given.RawMessage);
  // A text that is longer than a send body.
  const isLong = message.Data instanceof Buffer;
  if (isLong) given.RawMessage = { ...message, Data: name };
  const table = queryTables[name as keyof typeof queryTables];
  const read: QueryEmail = table.read(given, '', undefined, 'templateId');
  const { to, templateId, values, ...email } = read;
  const destination = to === undefined ? email.destination : { to };
  const template = templateId === undefined ? undefined : { templateId, values };
  const contents = isLong ? new Map([[name, message.Data as Buffer]]) : undefined;
  return { action: name, message: toSend({ ...email, destination, template }, [], contents) };
}
