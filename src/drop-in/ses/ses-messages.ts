import { Type } from 'typebox';
import type { FaultDetail } from '../../base/values/errors.ts';
import type { HeaderMailbox } from '../../content/rendering/message-headers.ts';
import { DropInRefusal } from '../provider/drop-in-errors.ts';
import { namesOf, type ProviderMessage, pascal, toMessage } from '../provider/mail.ts';
import type { Texts } from '../provider/members.ts';
import { MemberTable, mapValues, notes, schemas, shape, tablesWith } from '../provider/members.ts';
import { invalidMember, Place, readObject } from '../provider/place.ts';
import { readMailboxes } from '../provider/read-mailboxes.ts';
import type { ProviderJson } from '../provider/sending.ts';
import { readQueryForm } from './query-form.ts';

const Charset = Type.String({ pattern: '^([Uu][Tt][Ff]-?8|[Uu][Ss]-[Aa][Ss][Cc][Ii][Ii])$' });

const pairTable = new MemberTable({ Name: 'text', Value: 'text' });
const textTable = new MemberTable({
  Data: 'text',
  Charset: { ...shape(Charset), note: 'can be UTF-8 or US-ASCII; mail is sent as UTF-8' },
});
const table = tablesWith({
  disposition: shape(Type.Enum(['ATTACHMENT', 'INLINE'])),
  encoding: shape(Type.Enum(['BASE64'])),
  people: shape(Type.Array(schemas.address, { maxItems: 50 }), readMailboxes),
  pairs: pairTable.asPairs(50),
  part: shape(
    schemas.object,
    (part, { field, details }) => textTable.read(part, `${field}.`, details).data,
  ),
  values: shape(schemas.text, (json, place) =>
    mapValues(readObject(json, place), (one) => (typeof one === 'object' ? one : String(one))),
  ),
});
const fileTable = table({
  FileName: 'text as filename',
  RawContent: 'text as content',
  ContentType: 'text: is derived from the extension of `FileName` if it is absent',
  ContentId: 'text',
  ContentDisposition:
    'disposition as disposition: is `INLINE` with `ContentId` and `ATTACHMENT` without',
  ContentTransferEncoding: 'encoding: can be `BASE64`',
  ContentDescription: 'refused: isn’t supported; remove it',
});
const files = fileTable.asList({ required: ['filename', 'content'] }, (list, place) => {
  const reason = 'is INLINE with ContentId, ATTACHMENT without';
  for (const [index, { disposition, contentId }] of list.entries()) {
    const isWrong = disposition && (disposition === 'INLINE') !== (contentId !== undefined);
    place.refuseIf(isWrong, reason, `[${index}].ContentDisposition`);
  }
  return list;
});

const sesNotes = {
  raw: 'is sent as it is, without its `Bcc`; its `From` is the sender; `X-SES-CONFIGURATION-SET` and `X-SES-MESSAGE-TAGS` count as their members, other `X-SES-…` fields are refused',
  template: 'is the ID of a published template of the account',
  values: 'becomes values of its fields, numbers and booleans as text',
  tag: 'becomes the tag that groups messages in reports, up to 48 characters',
} as const;
const noIdentities = 'refused: isn’t supported, because a key sends only for its own account';
const noReturnPath =
  'refused: isn’t supported, because bounces come back to Signalpost; read them in webhooks';

const destinationTable = table({
  ToAddresses: 'people as to',
  CcAddresses: 'people as cc',
  BccAddresses: 'people as bcc',
});
const bodyTable = table({ Text: 'part', Html: 'part' });
const simpleTable = table({
  Subject: 'part',
  Body: bodyTable.asObject(),
  Headers: `pairs: ${notes.headers}`,
  Attachments: files,
});
const rawTable = table({ Data: `text: ${sesNotes.raw}` });
const ownTable = table({ Subject: 'text', Html: 'text', Text: 'text' });
const templateTable = table({
  TemplateName: `short as templateId: ${sesNotes.template}`,
  TemplateContent: {
    ...ownTable.asObject('subject'),
    note: 'is filled as Signalpost’s templates are',
  },
  TemplateData: `values as values: ${sesNotes.values}`,
  Headers: `pairs: ${notes.headers}`,
  Attachments: files,
  TemplateArn: noIdentities,
});
const contentTable = table({
  Simple: simpleTable.asObject('subject'),
  Raw: rawTable.asObject('data'),
  Template: templateTable.asObject(),
});
const emailTable = table({
  FromEmailAddress: 'mailbox as from',
  Destination: destinationTable.asObject(),
  ReplyToAddresses: 'people as replyTo: needs verified senders; not with `Raw`',
  Content: contentTable.asObject(),
  EmailTags: `pairs as attributes: ${notes.attributes}`,
  ConfigurationSetName: `short as tag: ${sesNotes.tag}`,
  FromEmailAddressIdentityArn: noIdentities,
  FeedbackForwardingEmailAddress: noReturnPath,
  FeedbackForwardingEmailAddressIdentityArn: noReturnPath,
  ListManagementOptions:
    'refused: isn’t supported, because Signalpost has no contact lists of topics; it writes unsubscribe links itself',
  EndpointId: 'refused: isn’t supported, because Signalpost has no regions',
  TenantName: 'refused: isn’t supported; use an account for each tenant',
});

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

const destinationNames = {
  ...mapValues(destinationTable.names, (name) => `Destination.${name}`),
  envelope: 'Destination',
};

/** The members of SendEmail by those of the send body. */
const ownNames = {
  ...emailTable.names,
  ...destinationNames,
  values: 'Content.Template.TemplateData',
  templateId: 'Content.Template.TemplateName',
};
export const sendNames = namesOf(ownNames, pascal);

const common = {
  Source: 'mailbox as from',
  Tags: `pairs as attributes: ${notes.attributes}`,
  ConfigurationSetName: `short as tag: ${sesNotes.tag}`,
  SourceArn: noIdentities,
  ReturnPathArn: noIdentities,
} as const;
const composed = {
  ...common,
  Destination: destinationTable.asObject(),
  ReplyToAddresses: 'people as replyTo: needs verified senders',
  ReturnPath: noReturnPath,
} as const;
const forms = tablesWith({
  ...table.shapes,
  simple: simpleTable.asObject('subject'),
  raw: rawTable.asObject('data'),
});
/** The forms of version 1 by their action. */
export const queryTables = {
  SendEmail: forms({ ...composed, Message: 'simple as simple' }),
  SendRawEmail: forms({
    ...common,
    Destinations: 'people as to',
    RawMessage: `raw as raw: has \`Data\`, which ${sesNotes.raw}`,
    FromArn: noIdentities,
  }),
  SendTemplatedEmail: forms({
    ...composed,
    Template: `short as templateId: ${sesNotes.template}`,
    TemplateData: `values as values: ${sesNotes.values}`,
    TemplateArn: noIdentities,
  }),
};

/** What their content is called, if it must be there. */
const queryContents: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  SendEmail: { Message: {} },
  SendRawEmail: { RawMessage: {} },
};

const { names } = queryTables.SendTemplatedEmail;

/** The members of version 1 by those of the send body, and of version 2 where complete messages are sent. */
export const queryNames = {
  ...namesOf({ ...names, ...destinationNames, content: 'Message' }, pascal),
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
  readonly attributes?: Texts;
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
  const place = new Place('', details);
  const { to = [], cc = [], bcc = [] } = destination ?? {};
  if (raw !== undefined) {
    const { replyTo = [], ...facts } = email;
    const noReply = 'can’t be used with Raw; write a Reply-To field';
    place.refuseIf(replyTo.length > 0, noReply, 'ReplyToAddresses');
    place.end();
    const { data = '' } = raw;
    const recipients = destination && [...to, ...cc, ...bcc];
    return { ...facts, data: contents?.get(data) ?? data, recipients };
  }
  const { values = {}, templateContent: own, ...stored } = template ?? {};
  const isStored = stored.templateId !== undefined;
  if (template !== undefined && isStored === (own !== undefined))
    throw invalidMember('Content.Template', 'must have TemplateName or TemplateContent');
  const hasLists = Object.values(values).some((one) => typeof one !== 'string');
  const noLists = 'can’t have lists and objects with TemplateContent';
  place.refuseIf(own && hasLists, noLists, 'Content.Template.TemplateData');
  const oneAddress = 'must have one address with Template; send an email to each';
  const isNobody = to.length + cc.length + bcc.length === 0;
  place.refuseIf(isNobody, 'is required', 'Destination');
  const isList = isStored && to.length !== 1;
  place.refuseIf(!isNobody && isList, oneAddress, 'Destination.ToAddresses');
  place.end();
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
