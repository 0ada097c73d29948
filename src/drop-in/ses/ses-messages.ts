import { Type } from 'typebox';
import { Fault, type FaultDetail } from '../../base/values/errors.ts';
import type { BodyJson } from '../../sending/submission/read-body-json.ts';
import type { ContentMessage } from '../../sending/submission/send-content.ts';
import { MemberTable, mapped, refused, supported } from '../provider/members.ts';
import { readMailbox, readMailboxes } from '../provider/read-mailboxes.ts';
import { type ProviderMessage, typeOfFile } from '../provider/send-messages.ts';

const maxRecipients = 50;

const Text = Type.String();
const Address = Type.String({ maxLength: 2_000 });
const Addresses = Type.Array(Address, { maxItems: maxRecipients });
const Anything = Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' });
const List = (maxItems: number) => Type.Array(Anything, { maxItems });

const noIdentities = 'isn’t supported, because a key sends only for its own account';
const noReturnPath =
  'isn’t supported, because bounces come back to Signalpost; read them in webhooks';

const headers = mapped(
  List(50),
  'can be `X-…`, `List-…` except unsubscribe, `References`, `In-Reply-To`, `Importance` and `Feedback-ID`; the service writes its own unsubscribe headers',
);
const attachments = supported(List(100));

const textMembers = new MemberTable({
  Data: supported(Text),
  Charset: mapped(
    Type.String({ pattern: '^([Uu][Tt][Ff]-?8|[Uu][Ss]-[Aa][Ss][Cc][Ii][Ii])$' }),
    'can be UTF-8 or US-ASCII; mail is sent as UTF-8',
  ),
});

/** The objects of SendEmail in version 2. */
export const sendMembers = {
  '': new MemberTable({
    FromEmailAddress: supported(Address),
    Destination: supported(Anything),
    ReplyToAddresses: mapped(Addresses, 'needs verified senders; not with `Raw`'),
    Content: supported(Anything),
    EmailTags: mapped(
      List(50),
      'become attributes: up to 20, with names of 40 and values of 200 characters',
    ),
    ConfigurationSetName: mapped(
      Type.String({ maxLength: 64 }),
      'becomes the tag that groups messages in reports, up to 48 characters',
    ),
    FromEmailAddressIdentityArn: refused(noIdentities),
    FeedbackForwardingEmailAddress: refused(noReturnPath),
    FeedbackForwardingEmailAddressIdentityArn: refused(noReturnPath),
    ListManagementOptions: refused(
      'isn’t supported, because Signalpost has no contact lists of topics; it writes unsubscribe links itself',
    ),
    EndpointId: refused('isn’t supported, because Signalpost has no regions'),
    TenantName: refused('isn’t supported; use an account for each tenant'),
  }),
  Destination: new MemberTable({
    ToAddresses: supported(Addresses),
    CcAddresses: supported(Addresses),
    BccAddresses: supported(Addresses),
  }),
  Content: new MemberTable({
    Simple: supported(Anything),
    Raw: supported(Anything),
    Template: supported(Anything),
  }),
  'Content.Simple': new MemberTable({
    Subject: supported(Anything),
    Body: supported(Anything),
    Headers: headers,
    Attachments: attachments,
  }),
  'Content.Simple.Body': new MemberTable({ Text: supported(Anything), Html: supported(Anything) }),
  'Content.Simple.Subject': textMembers,
  'Content.Simple.Body.Text': textMembers,
  'Content.Simple.Body.Html': textMembers,
  'Content.Raw': new MemberTable({
    Data: mapped(
      Text,
      'is sent as it is, without its `Bcc`; its `From` is the sender; `X-SES-CONFIGURATION-SET` and `X-SES-MESSAGE-TAGS` count as their members, other `X-SES-…` fields are refused',
    ),
  }),
  'Content.Template': new MemberTable({
    TemplateName: mapped(
      Type.String({ maxLength: 200 }),
      'is the ID of a published template of the account',
    ),
    TemplateContent: mapped(Anything, 'is filled as Signalpost’s templates are'),
    TemplateData: mapped(Text, 'becomes values of its fields, numbers and booleans as text'),
    Headers: headers,
    Attachments: attachments,
    TemplateArn: refused(noIdentities),
  }),
  'Content.Template.TemplateContent': new MemberTable({
    Subject: supported(Text),
    Html: supported(Text),
    Text: supported(Text),
  }),
  'Headers[]': new MemberTable({ Name: supported(Text), Value: supported(Text) }),
  'Attachments[]': new MemberTable({
    FileName: supported(Text),
    RawContent: supported(Text),
    ContentType: mapped(Text, 'is derived from the extension of `FileName` if it is absent'),
    ContentId: supported(Text),
    ContentDisposition: mapped(
      Type.Enum(['ATTACHMENT', 'INLINE']),
      'is `INLINE` with `ContentId` and `ATTACHMENT` without',
    ),
    ContentTransferEncoding: mapped(Type.Enum(['BASE64']), 'can be `BASE64`'),
    ContentDescription: refused('isn’t supported; remove it'),
  }),
  'EmailTags[]': new MemberTable({ Name: supported(Text), Value: supported(Text) }),
};

/** The members of SendEmail by those of the send body. */
export const sendNames = {
  'envelope.toAddress': 'Destination.ToAddresses',
  'envelope.toDisplayName': 'Destination.ToAddresses',
  'envelope.ccAddressList': 'Destination.CcAddresses',
  'envelope.bccAddressList': 'Destination.BccAddresses',
  'envelope.fromAddress': 'FromEmailAddress',
  'envelope.fromDisplayName': 'FromEmailAddress',
  'envelope.replyToAddress': 'ReplyToAddresses',
  envelope: 'Destination',
  content: 'Content',
  'content.subjectLine': 'Subject',
  'content.html': 'Html',
  'content.text': 'Text',
  'content.headers': 'Headers',
  'content.attachments': 'Attachments',
  'content.personalizationDataMap': 'Content.Template.TemplateData',
  'metadata.attributes': 'EmailTags',
  'metadata.tagList': 'ConfigurationSetName',
  templateId: 'Content.Template.TemplateName',
} as const;

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
  const { Simple, Raw, Template } = content;
  const details: FaultDetail[] = [];
  const add = (field: string, reason: string): void => void details.push({ field, reason });
  if (Object.keys(content).length !== 1)
    throw invalid([{ field: 'Content', reason: 'must have one of Simple, Raw and Template' }]);
  const destination = sendMembers.Destination.read(email.Destination ?? {}, 'Destination.');
  const { ToAddresses, CcAddresses, BccAddresses } = destination;
  const attributes = readPairs(email.EmailTags, 'EmailTags', details);
  const tag = email.ConfigurationSetName;
  if (Raw !== undefined) {
    const { Data } = sendMembers['Content.Raw'].read(Raw, 'Content.Raw.');
    if (Data === undefined) add('Content.Raw.Data', 'is required');
    if ((email.ReplyToAddresses ?? []).length > 0)
      add('ReplyToAddresses', 'can’t be used with Raw; write a Reply-To field');
    if (details.length > 0) throw invalid(details);
    const recipients =
      email.Destination && [ToAddresses, CcAddresses, BccAddresses].flatMap((list) => list ?? []);
    const data = contents?.get(Data ?? '') ?? Data ?? '';
    return {
      raw: {
        data: data as string | Buffer,
        from: email.FromEmailAddress,
        recipients,
        attributes,
        tag,
      },
    };
  }
  const from =
    email.FromEmailAddress === undefined
      ? undefined
      : readMailbox(email.FromEmailAddress, 'FromEmailAddress', details);
  const to = readMailboxes(ToAddresses, 'Destination.ToAddresses', details);
  const cc = readMailboxes(CcAddresses, 'Destination.CcAddresses', details);
  const bcc = readMailboxes(BccAddresses, 'Destination.BccAddresses', details);
  const replyTo = readMailboxes(email.ReplyToAddresses, 'ReplyToAddresses', details);
  const simple = Simple && readSimple(Simple);
  const template = Template && readTemplate(Template);
  const stored = template?.TemplateName;
  const place = simple === undefined ? 'Content.Template.' : 'Content.Simple.';
  const { Headers, Attachments } = simple ?? template ?? {};
  const files = readFiles(Attachments, `${place}Attachments`, contents, details);
  const fields = readPairs(Headers, `${place}Headers`, details);
  if (stored === undefined) {
    if (from === undefined) add('FromEmailAddress', 'is required');
    if (to.length + cc.length + bcc.length === 0) add('Destination', 'is required');
  } else {
    if (to.length !== 1)
      add('Destination.ToAddresses', 'must have one address with Template; send an email to each');
    if (replyTo.length > 1) add('ReplyToAddresses', 'can’t have several addresses with Template');
  }
  if (details.length > 0) throw invalid(details);
  const sent = { headers: fields, attributes, tag };
  if (stored === undefined && from !== undefined)
    return {
      content: {
        ...(simple?.content ?? template?.content ?? { subject: '' }),
        ...sent,
        from,
        to,
        cc,
        bcc,
        replyTo,
        attachments: files?.map(({ placeholder: _, ...file }) => file),
      },
    };
  return {
    templateId: stored ?? '',
    contents,
    body: JSON.parse(
      JSON.stringify({
        envelope: {
          toAddress: to[0]?.address,
          toDisplayName: to[0]?.name,
          ccAddressList: cc.map(({ address }) => address),
          bccAddressList: bcc.map(({ address }) => address),
          fromAddress: from?.address,
          fromDisplayName: from?.name,
          replyToAddress: replyTo[0]?.address,
        },
        content: {
          personalizationDataMap: template?.values,
          headers: fields,
          attachments: files?.map(({ placeholder, ...file }) => ({
            ...file,
            content: placeholder,
          })),
        },
        metadata: { attributes, tagList: tag === undefined ? undefined : [tag] },
        actions: { trackOpens: false, trackClicks: false },
      }),
    ),
  };
}

type Texts = Pick<ContentMessage, 'subject' | 'html' | 'text' | 'values'>;

function readSimple(value: unknown) {
  const simple = sendMembers['Content.Simple'].read(value, 'Content.Simple.');
  const body = sendMembers['Content.Simple.Body'].read(simple.Body ?? {}, 'Content.Simple.Body.');
  const text = (part: unknown, place: string): string | undefined =>
    part === undefined ? undefined : textMembers.read(part, place).Data;
  const subject = text(simple.Subject, 'Content.Simple.Subject.');
  if (subject === undefined)
    throw invalid([{ field: 'Content.Simple.Subject', reason: 'is required' }]);
  const content: Texts = {
    subject,
    html: text(body.Html, 'Content.Simple.Body.Html.'),
    text: text(body.Text, 'Content.Simple.Body.Text.'),
  };
  return { ...simple, content };
}

function readTemplate(value: unknown) {
  const template = sendMembers['Content.Template'].read(value, 'Content.Template.');
  const { TemplateName, TemplateContent, TemplateData = '{}' } = template;
  if ((TemplateName === undefined) === (TemplateContent === undefined))
    throw invalid([
      { field: 'Content.Template', reason: 'must have TemplateName or TemplateContent' },
    ]);
  const values = readValues(TemplateData);
  if (TemplateContent === undefined) return { ...template, values, content: undefined };
  const {
    Subject,
    Html,
    Text: text,
  } = sendMembers['Content.Template.TemplateContent'].read(
    TemplateContent,
    'Content.Template.TemplateContent.',
  );
  if (Subject === undefined)
    throw invalid([{ field: 'Content.Template.TemplateContent.Subject', reason: 'is required' }]);
  if (Object.values(values).some((one) => typeof one !== 'string'))
    throw invalid([
      {
        field: 'Content.Template.TemplateData',
        reason: 'can’t have lists and objects with TemplateContent',
      },
    ]);
  const content = { subject: Subject, html: Html, text, values: values as Texts['values'] };
  return { ...template, values, content };
}

/** @throws Fault VALIDATION_FAILED if it isn't an object in JSON */
function readValues(json: string): Record<string, unknown> {
  let data: unknown;
  try {
    data = JSON.parse(json);
  } catch {
    // Not an object either.
  }
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw invalid([{ field: 'Content.Template.TemplateData', reason: 'must be a JSON object' }]);
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      typeof value === 'object' ? value : String(value),
    ]),
  );
}

/** Headers and tags: lists of `Name` and `Value`. */
function readPairs(
  list: readonly unknown[] | undefined,
  place: string,
  details: FaultDetail[],
): Record<string, string> | undefined {
  if (list === undefined) return undefined;
  const pairs = new Map<string, string>();
  for (const [index, pair] of list.entries()) {
    const { Name = '', Value = '' } = sendMembers['EmailTags[]'].read(pair, `${place}[${index}].`);
    if (pairs.has(Name))
      details.push({ field: `${place}[${index}]`, reason: `repeats the name ${Name}` });
    pairs.set(Name, Value);
  }
  return Object.fromEntries(pairs);
}

function readFiles(
  list: readonly unknown[] | undefined,
  place: string,
  contents: BodyJson['contents'],
  details: FaultDetail[],
) {
  return list?.map((attachment, index) => {
    const at = `${place}[${index}].`;
    const file = sendMembers['Attachments[]'].read(attachment, at);
    for (const name of ['FileName', 'RawContent'] as const)
      if (file[name] === undefined) details.push({ field: at + name, reason: 'is required' });
    const { FileName = '', RawContent = '', ContentType, ContentId, ContentDisposition } = file;
    if (
      ContentDisposition !== undefined &&
      (ContentDisposition === 'INLINE') !== (ContentId !== undefined)
    )
      details.push({
        field: `${at}ContentDisposition`,
        reason: 'is INLINE with ContentId, ATTACHMENT without',
      });
    return {
      filename: FileName,
      contentType: ContentType ?? typeOfFile(FileName),
      contentId: ContentId,
      content: contents?.get(RawContent) ?? RawContent,
      placeholder: RawContent,
    };
  });
}

export function invalid(details: readonly FaultDetail[]): Fault {
  return new Fault('VALIDATION_FAILED', { details });
}
