import { Type } from 'typebox';
import { Fault, type FaultDetail } from '../../base/values/errors.ts';
import { mebibyte } from '../../host/http/limits/route-limits.ts';
import { forEach } from '../../sending/submission/for-each.ts';
import { type BodyJson, member } from '../../sending/submission/read-body-json.ts';
import {
  type DropInAnswer,
  type DropInCall,
  type DropInError,
  type DropInRequest,
  defineDropIn,
  ok,
  on,
  withAttachments,
} from '../provider/drop-in.ts';
import { describeError } from '../provider/drop-in-routes.ts';
import {
  attributesNote,
  headersNote,
  MemberTable,
  type MemberValues,
  mapped,
  namesOf,
  pascal,
  supported,
  toPairs,
} from '../provider/members.ts';
import { readMailbox, splitMailboxes } from '../provider/read-mailboxes.ts';
import {
  attachmentsIn,
  type ProviderMessage,
  readJson,
  sendMessage,
  toFieldValues,
  toFile,
  toMessage,
  useBatch,
} from '../provider/send-messages.ts';
import { onlyStream, postmarkReads, postmarkSuppressions } from './postmark-reads.ts';

/** Mailboxes in one text; far longer than 150 of them. */
const Addresses = Type.String({ maxLength: 50_000 });

const onlyInlined = 'can only be true: the CSS of a template is inlined when it is published';
const trackingOptions = ['None', 'HtmlOnly', 'HtmlAndText'];

/** What emails with a content and those from a template share. */
const sharedMembers = {
  From: 'address',
  To: supported(Addresses),
  Cc: supported(Addresses),
  Bcc: supported(Addresses),
  ReplyTo: mapped(Addresses, 'needs verified senders'),
  Tag: 'text: has at most 48 characters',
  Metadata: `texts: ${attributesNote}`,
  Headers: `list: ${headersNote}`,
  Attachments: 'list',
  TrackOpens: 'flag: is false by default',
  TrackLinks:
    'short: is `None` by default; otherwise the links of the HTML are tracked, and never those of the text',
  MessageStream: `short: ${onlyStream}`,
} as const;

const contentTable = new MemberTable({
  ...sharedMembers,
  Subject: 'text',
  HtmlBody: 'text',
  TextBody: 'text',
});
const templatedTable = new MemberTable({
  ...sharedMembers,
  From: 'address: is the sender of the template if it is absent',
  To: mapped(Addresses, 'is one address; send an email to each'),
  TemplateId:
    'integer: is the ID of a published template of the account; `signalpost import` makes it the alias, or Postmark’s ID',
  TemplateAlias:
    'short: is the ID of a published template of the account, as `signalpost import` writes it',
  TemplateModel:
    'object: becomes values of its fields: numbers and `true` as text, null and `false` as an empty text',
  InlineCss: `flag: ${onlyInlined}`,
});
const fileTable = new MemberTable({
  Name: 'text',
  Content: 'text',
  ContentType: 'text: is derived from the extension of `Name` if it is absent',
  ContentID: 'text: may begin with `cid:`; makes it an inline part',
  ContentLength: 'integer: isn’t needed: the length of `Content` counts',
  Disposition: 'refused: isn’t supported; an attachment with ContentID is inline, others aren’t',
});
const headerTable = new MemberTable({ Name: 'text', Value: 'text' });

const emailMembers = {
  '': contentTable,
  'Attachments[]': fileTable,
  'Headers[]': headerTable,
};

/** The members of Postmark's email by those of the send body. */
const postmarkNames = namesOf(
  {
    envelope: 'To, Cc and Bcc',
    content: 'HtmlBody or TextBody',
    html: 'HtmlBody',
    text: 'TextBody',
    values: 'TemplateModel',
    attributes: 'Metadata',
    trackClicks: 'TrackLinks',
    templateId: 'TemplateId or TemplateAlias',
  },
  pascal,
);

/** Reads an email of Postmark's API. @param contents of its attachments, by their placeholders */
type ReadEmail = (value: unknown, contents: BodyJson['contents']) => ProviderMessage;

/**
 * Translates an email with its content.
 * @throws Fault VALIDATION_FAILED with the members of Postmark's email
 */
const readContentEmail: ReadEmail = (value, contents) => {
  const { Subject: subject = '', HtmlBody, TextBody, ...email } = contentTable.read(value);
  const details: FaultDetail[] = [];
  const mail = readShared(email, contents, details);
  // Programs send empty texts for absent ones.
  const texts = { subject, html: HtmlBody || undefined, text: TextBody || undefined };
  return toMessage({ ...mail, ...texts }, details);
};

/**
 * Translates an email from a template.
 * @throws Fault VALIDATION_FAILED with the members of Postmark's email
 */
const readTemplated: ReadEmail = (value, contents) => {
  const email = templatedTable.read(value);
  const details: FaultDetail[] = [];
  const mail = readShared(email, contents, details);
  const { TemplateId: number, TemplateAlias: alias, TemplateModel: model = {} } = email;
  if ((number === undefined) === (alias === undefined))
    details.push({ field: 'TemplateId or TemplateAlias', reason: 'is required, and not both' });
  if (email.InlineCss === false) details.push({ field: 'InlineCss', reason: onlyInlined });
  const templateId = alias ?? String(number);
  return toMessage({ ...mail, templateId, values: toFieldValues(model) }, details);
};

function readShared(
  email: MemberValues<typeof sharedMembers>,
  contents: BodyJson['contents'],
  details: FaultDetail[],
) {
  const list = (name: 'To' | 'Cc' | 'Bcc' | 'ReplyTo') =>
    splitMailboxes(email[name] ?? '', name, details).map((one) => readMailbox(one, name, details));
  const { From, TrackLinks = 'None', TrackOpens: trackOpens = false } = email;
  const to = list('To');
  if (to.length === 0) details.push({ field: 'To', reason: 'is required' });
  if (!trackingOptions.includes(TrackLinks))
    details.push({ field: 'TrackLinks', reason: `must be one of ${trackingOptions.join(', ')}` });
  if ((email.MessageStream ?? 'outbound') !== 'outbound')
    details.push({ field: 'MessageStream', reason: onlyStream });
  const headers = headerTable.readEach(email.Headers, 'Headers', details);
  const pairs = headers?.map(({ Name, Value }) => [Name, Value] as const);
  const files = fileTable.readEach(email.Attachments, 'Attachments', details, 'Name', 'Content');
  return {
    from: From === undefined ? undefined : readMailbox(From, 'From', details),
    to,
    cc: list('Cc'),
    bcc: list('Bcc'),
    replyTo: list('ReplyTo'),
    tag: email.Tag || undefined,
    attributes: email.Metadata,
    headers: toPairs(pairs, ['Headers', 'Name'], details),
    attachments: files?.map(({ Name, Content, ContentType, ContentID = '' }) =>
      toFile(contents, Name, Content, ContentType, ContentID.replace(/^cid:/i, '') || undefined),
    ),
    trackOpens,
    trackClicks: TrackLinks !== 'None',
  };
}

const maxBatchEmails = 500;

const messagesStart = /^\s*\{\s*"Messages"\s*:\s*\[/;

const one = { ...withAttachments, names: postmarkNames };
const batch = { bodyBytes: 10 * mebibyte, names: postmarkNames };

const calls: readonly DropInCall[] = [
  on(
    'POST /email messages:send: send an email',
    async (request) => ok(await sendOne(request, readContentEmail)),
    { ...one, members: emailMembers },
  ),
  on(
    `POST /email/batch messages:send: send up to ${maxBatchEmails} emails; each has a result of its own`,
    (request) => sendBatch(request, readContentEmail),
    batch,
  ),
  on(
    'POST /email/withTemplate messages:send: send an email from a template',
    async (request) => ok(await sendOne(request, readTemplated)),
    { ...one, members: { '': templatedTable } },
  ),
  on(
    `POST /email/batchWithTemplates messages:send: send up to ${maxBatchEmails} emails from templates; each has a result of its own`,
    (request) => sendBatch(request, readTemplated, [messagesStart, '{"Messages": […]}']),
    batch,
  ),
  ...postmarkReads,
  ...postmarkSuppressions,
];

/** Postmark's API (https://postmarkapp.com/developer), as version 5 of its SDK calls it. */
export const postmark = defineDropIn({
  name: 'postmark',
  title: 'Postmark',
  keyOf: ({ 'x-postmark-server-token': token }) => (typeof token === 'string' ? token : undefined),
  calls,
  describeError: describePostmarkError,
  environment: (url, key) => ({
    POSTMARK_SERVER_TOKEN: key,
    POSTMARK_API_URL: url,
    // The SDK's option `requestHost`.
    POSTMARK_REQUEST_HOST: url.replace(/^https?:\/\//, ''),
  }),
});

/** Status and code of errors (https://postmarkapp.com/developer/api/overview#error-codes). */
const errors: Partial<
  Readonly<Record<DropInError['kind'], readonly [status: number, code: number]>>
> = {
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

function describePostmarkError({ kind, message, details }: DropInError): DropInAnswer {
  const [status, code] = errors[kind] ?? [422, 300];
  const [first] = details;
  const isUnreadable = kind === 'VALIDATION_FAILED' && first?.field === '';
  const own = isUnreadable && /JSON|UTF-8|empty/.test(first.reason) ? 402 : undefined;
  const ErrorCode = own ?? (first?.field === 'BounceID' ? 407 : code);
  return { status, body: { ErrorCode, Message: message } };
}

async function sendOne(request: DropInRequest, read: ReadEmail): Promise<object> {
  const { value, contents } = readJson(request, attachmentsIn('Attachments', 'Content'));
  const message = read(value, contents);
  const { messageId, suppressedRecipients } = await sendMessage(request, message, {
    span: request.span,
  }).catch((error: unknown) => {
    throw error instanceof Fault && error.code === 'RECIPIENT_SUPPRESSED'
      ? toInactive(error)
      : error;
  });
  return {
    To: member(value, 'To'),
    Cc: member(value, 'Cc'),
    Bcc: member(value, 'Bcc'),
    SubmittedAt: new Date(request.services.clock.now()).toISOString(),
    MessageID: messageId,
    ErrorCode: 0,
    Message:
      suppressedRecipients.length === 0
        ? 'OK'
        : `Message OK, but will not deliver to these inactive addresses: ${suppressedRecipients.join(', ')}`,
  };
}

/** SDKs read the addresses from this sentence. */
function toInactive({ extra }: Fault): Fault {
  const addresses = extra?.suppressedRecipients as readonly string[];
  const reason = `You tried to send to recipients that are suppressed for this account. Found inactive addresses: ${addresses.join(', ')}. Inactive recipients can be reactivated with the suppressions API`;
  return new Fault('RECIPIENT_SUPPRESSED', { details: [{ field: '', reason }] });
}

/** Each email has a result of its own. @param start of the body, if it isn't a list */
function sendBatch(
  request: DropInRequest,
  read: ReadEmail,
  start?: [RegExp, string],
): Promise<DropInAnswer> {
  const sendAll = async (emails: readonly Buffer[]): Promise<DropInAnswer> => {
    const results = await forEach(emails, (body) => sendOne({ ...request, body }, read));
    const views = results.map((one) =>
      one instanceof Fault ? describePostmarkError(describeError(one, postmarkNames)).body : one,
    );
    return ok(views);
  };
  return useBatch(request, maxBatchEmails, sendAll, start);
}
