import { Type } from 'typebox';
import type { FaultDetail } from '../../base/values/errors.ts';
import type { BodyJson } from '../../sending/submission/read-body-json.ts';
import {
  attributesNote,
  headersNote,
  invalidMember,
  invalidMembers,
  MemberTable,
  mapped,
  namesOf,
  pascal,
  supported,
  toPairs,
} from '../provider/members.ts';
import { readMailbox, readMailboxes } from '../provider/read-mailboxes.ts';
import {
  type Mail,
  type ProviderMessage,
  readObject,
  toFile,
  toMessage,
} from '../provider/send-messages.ts';

const Addresses = Type.Array(Type.String({ maxLength: 2_000 }), { maxItems: 50 });
const Pairs = Type.Array(Type.Unsafe<object>({ type: 'object' }), { maxItems: 50 });
const Charset = Type.String({ pattern: '^([Uu][Tt][Ff]-?8|[Uu][Ss]-[Aa][Ss][Cc][Ii][Ii])$' });
const noIdentities = 'isn’t supported, because a key sends only for its own account';
const noReturnPath =
  'isn’t supported, because bounces come back to Signalpost; read them in webhooks';

const textTable = new MemberTable({
  Data: 'text',
  Charset: mapped(Charset, 'can be UTF-8 or US-ASCII; mail is sent as UTF-8'),
});
const pairTable = new MemberTable({ Name: 'text', Value: 'text' });
const addresses = supported(Addresses);

/** The objects of SendEmail in version 2. */
export const sendMembers = {
  '': new MemberTable({
    FromEmailAddress: 'address',
    Destination: 'object',
    ReplyToAddresses: mapped(Addresses, 'needs verified senders; not with `Raw`'),
    Content: 'object',
    EmailTags: mapped(Pairs, attributesNote),
    ConfigurationSetName:
      'short: becomes the tag that groups messages in reports, up to 48 characters',
    FromEmailAddressIdentityArn: `refused: ${noIdentities}`,
    FeedbackForwardingEmailAddress: `refused: ${noReturnPath}`,
    FeedbackForwardingEmailAddressIdentityArn: `refused: ${noReturnPath}`,
    ListManagementOptions:
      'refused: isn’t supported, because Signalpost has no contact lists of topics; it writes unsubscribe links itself',
    EndpointId: 'refused: isn’t supported, because Signalpost has no regions',
    TenantName: 'refused: isn’t supported; use an account for each tenant',
  }),
  Destination: new MemberTable({
    ToAddresses: addresses,
    CcAddresses: addresses,
    BccAddresses: addresses,
  }),
  Content: new MemberTable({ Simple: 'object', Raw: 'object', Template: 'object' }),
  'Content.Simple': new MemberTable({
    Subject: 'object',
    Body: 'object',
    Headers: mapped(Pairs, headersNote),
    Attachments: 'list',
  }),
  'Content.Simple.Body': new MemberTable({ Text: 'object', Html: 'object' }),
  'Content.Simple.Subject': textTable,
  'Content.Simple.Body.Text': textTable,
  'Content.Simple.Body.Html': textTable,
  'Content.Raw': new MemberTable({
    Data: 'text: is sent as it is, without its `Bcc`; its `From` is the sender; `X-SES-CONFIGURATION-SET` and `X-SES-MESSAGE-TAGS` count as their members, other `X-SES-…` fields are refused',
  }),
  'Content.Template': new MemberTable({
    TemplateName: 'short: is the ID of a published template of the account',
    TemplateContent: 'object: is filled as Signalpost’s templates are',
    TemplateData: 'text: becomes values of its fields, numbers and booleans as text',
    Headers: mapped(Pairs, headersNote),
    Attachments: 'list',
    TemplateArn: `refused: ${noIdentities}`,
  }),
  'Content.Template.TemplateContent': new MemberTable({
    Subject: 'text',
    Html: 'text',
    Text: 'text',
  }),
  'Headers[]': pairTable,
  'Attachments[]': new MemberTable({
    FileName: 'text',
    RawContent: 'text',
    ContentType: 'text: is derived from the extension of `FileName` if it is absent',
    ContentId: 'text',
    ContentDisposition: mapped(
      Type.Enum(['ATTACHMENT', 'INLINE']),
      'is `INLINE` with `ContentId` and `ATTACHMENT` without',
    ),
    ContentTransferEncoding: mapped(Type.Enum(['BASE64']), 'can be `BASE64`'),
    ContentDescription: 'refused: isn’t supported; remove it',
  }),
  'EmailTags[]': pairTable,
};

/** The members of SendEmail by those of the send body. */
export const sendNames = namesOf(
  {
    to: 'Destination.ToAddresses',
    cc: 'Destination.CcAddresses',
    bcc: 'Destination.BccAddresses',
    from: 'FromEmailAddress',
    replyTo: 'ReplyToAddresses',
    envelope: 'Destination',
    values: 'Content.Template.TemplateData',
    attributes: 'EmailTags',
    tag: 'ConfigurationSetName',
    templateId: 'Content.Template.TemplateName',
  },
  pascal,
);

/** What a complete message is sent with. */
export interface SesRaw {
  /** Base64. */
  readonly data: string | Buffer;
  readonly from: string | undefined;
  /** Undefined: those of its header. */
  readonly recipients: readonly string[] | undefined;
  readonly attributes: Readonly<Record<string, string>> | undefined;
  readonly tag: string | undefined;
}

/**
 * Translates SendEmail.
 * @param contents of attachments and of a complete message, by their placeholders
 * @throws Fault VALIDATION_FAILED with its members
 */
export function readSend(
  value: unknown,
  contents: BodyJson['contents'],
): ProviderMessage | { readonly raw: SesRaw } {
  const email = sendMembers[''].read(value);
  const content = sendMembers.Content.read(email.Content ?? {}, 'Content.');
  const details: FaultDetail[] = [];
  const add = (field: string, reason: string): void => void details.push({ field, reason });
  if (Object.keys(content).length !== 1)
    throw invalidMember('Content', 'must have one of Simple, Raw and Template');
  const destination = sendMembers.Destination.read(email.Destination ?? {}, 'Destination.');
  const { ToAddresses = [], CcAddresses = [], BccAddresses = [] } = destination;
  const { FromEmailAddress: sender, ReplyToAddresses = [], ConfigurationSetName: tag } = email;
  const attributes = pairsOf(email.EmailTags, 'EmailTags', details);
  if (content.Raw !== undefined) {
    const { Data } = sendMembers['Content.Raw'].read(content.Raw, 'Content.Raw.');
    if (Data === undefined) add('Content.Raw.Data', 'is required');
    if (ReplyToAddresses.length > 0)
      add('ReplyToAddresses', 'can’t be used with Raw; write a Reply-To field');
    if (details.length > 0) throw invalidMembers(details);
    const recipients = email.Destination && [...ToAddresses, ...CcAddresses, ...BccAddresses];
    const data = (contents?.get(Data ?? '') ?? Data) as string | Buffer;
    return { raw: { data, from: sender, recipients, attributes, tag } };
  }
  const place = content.Simple === undefined ? 'Content.Template.' : 'Content.Simple.';
  const texts =
    content.Simple === undefined
      ? readTemplate(content.Template, details)
      : readSimple(content.Simple);
  const { Headers, Attachments, ...facts } = texts;
  const to = readMailboxes(ToAddresses, 'Destination.ToAddresses', details);
  if (ToAddresses.length + CcAddresses.length + BccAddresses.length === 0)
    add('Destination', 'is required');
  else if (facts.templateId !== undefined && to.length !== 1)
    add('Destination.ToAddresses', 'must have one address with Template; send an email to each');
  const mail: Mail = {
    ...facts,
    from: sender === undefined ? undefined : readMailbox(sender, 'FromEmailAddress', details),
    to,
    cc: readMailboxes(CcAddresses, 'Destination.CcAddresses', details),
    bcc: readMailboxes(BccAddresses, 'Destination.BccAddresses', details),
    replyTo: readMailboxes(ReplyToAddresses, 'ReplyToAddresses', details),
    headers: pairsOf(Headers, `${place}Headers`, details),
    attachments: readFiles(Attachments, `${place}Attachments`, contents, details),
    attributes,
    tag,
  };
  return toMessage(mail, details);
}

function readSimple(value: unknown) {
  const { Subject, Body, ...simple } = sendMembers['Content.Simple'].read(value, 'Content.Simple.');
  const { Html, Text } = sendMembers['Content.Simple.Body'].read(
    Body ?? {},
    'Content.Simple.Body.',
  );
  const read = (part: unknown, place: string): string | undefined =>
    part === undefined ? undefined : textTable.read(part, `Content.Simple.${place}.`).Data;
  const subject = read(Subject, 'Subject');
  if (subject === undefined) throw invalidMember('Content.Simple.Subject', 'is required');
  const texts = { html: read(Html, 'Body.Html'), text: read(Text, 'Body.Text') };
  return { ...simple, ...texts, subject, templateId: undefined };
}

function readTemplate(value: unknown, details: FaultDetail[]) {
  const place = 'Content.Template';
  const template = sendMembers[place].read(value, `${place}.`);
  const { TemplateName: templateId, TemplateContent, TemplateData = '{}', ...others } = template;
  if ((templateId === undefined) === (TemplateContent === undefined))
    throw invalidMember(place, 'must have TemplateName or TemplateContent');
  const data = readObject(TemplateData, `${place}.TemplateData`, details) ?? {};
  const pairs = Object.entries(data).map(([name, one]) => [
    name,
    typeof one === 'object' ? one : String(one),
  ]);
  const values: Readonly<Record<string, unknown>> = Object.fromEntries(pairs);
  if (TemplateContent === undefined) return { ...others, templateId, values };
  const at = `${place}.TemplateContent`;
  const {
    Subject: subject,
    Html: html,
    Text: text,
  } = sendMembers[at].read(TemplateContent, `${at}.`);
  if (subject === undefined) throw invalidMember(`${at}.Subject`, 'is required');
  if (Object.values(values).some((one) => typeof one !== 'string'))
    throw invalidMember(
      `${place}.TemplateData`,
      'can’t have lists and objects with TemplateContent',
    );
  return { ...others, templateId, values, subject, html, text };
}

/** Headers and tags. */
function pairsOf(list: readonly unknown[] | undefined, place: string, details: FaultDetail[]) {
  const pairs = pairTable.readEach(list, place, details);
  return toPairs(
    pairs?.map(({ Name, Value }) => [Name, Value] as const),
    [place, 'Name'],
    details,
  );
}

function readFiles(
  list: readonly unknown[] | undefined,
  place: string,
  contents: BodyJson['contents'],
  details: FaultDetail[],
) {
  const table = sendMembers['Attachments[]'];
  const files = table.readEach(list, place, details, 'FileName', 'RawContent');
  return files?.map((file, index) => {
    const { FileName, ContentType, RawContent, ContentId, ContentDisposition } = file;
    if (ContentDisposition && (ContentDisposition === 'INLINE') !== (ContentId !== undefined))
      details.push({
        field: `${place}[${index}].ContentDisposition`,
        reason: 'is INLINE with ContentId, ATTACHMENT without',
      });
    return toFile(contents, FileName, RawContent, ContentType, ContentId);
  });
}
