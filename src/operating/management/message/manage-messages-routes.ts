import { type Static, Type } from 'typebox';
import { keyModes } from '../../../accounts/access/principal.ts';
import {
  Flag,
  NamedObject,
  Nullable,
  OpenObject,
  OptionalText,
  optional,
  StrictObject,
  Text,
  Time,
  TimeOrDay,
  Uuid,
  Whole,
} from '../../../base/values/common-schemas.ts';
import { comparableAddress } from '../../../base/values/email-address.ts';
import type { TemplateId } from '../../../base/values/ids.ts';
import { withoutReplaced } from '../../../content/message/attachment.ts';
import { describeMessage } from '../../../content/message/describe-message.ts';
import { maskedValues } from '../../../content/message/mask-values.ts';
import {
  maxAttributeName,
  maxAttributeValue,
  type StoredContent,
} from '../../../content/message/message-content.ts';
import { readMessageStatus } from '../../../content/message/message-status-store.ts';
import {
  MessageStateSchema,
  messageFields,
  recipientFields,
} from '../../../content/message/message-view.ts';
import { rawSourceOf, rawTemplateId } from '../../../content/message/raw-message.ts';
import { renderMessage } from '../../../content/rendering/render-message.ts';
import { RenderingTooLarge } from '../../../content/rendering/rendering-too-large.ts';
import { maxLocaleLength } from '../../../content/template/locale.ts';
import { explainMessage } from '../../../outcomes/report/explain-message.ts';
import { parseMail } from '../../../sending/inbox/parse-mail.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, writeCursor } from '../answer/page.ts';
import { conflict, notFound } from '../answer/problem.ts';
import { readOptionalLocale, readOptionalTime } from '../answer/read-query.ts';
import { maxExported, sendDownload, sendImage, sendPages } from '../answer/send-download.ts';
import { accountOf, defineOperation, type OperationCall } from '../operation.ts';
import { ImageView } from '../template/template-views.ts';
import { type ContentView, findSecretNames, maskContent, readSubjectsOf } from './mask-content.ts';
import type { MessageListFilter } from './message-page-store.ts';
import { type LogLine, readLogPage } from './read-log-page.ts';

const subject = Nullable(
  Text('With secret values masked; null once what it is made of is erased.'),
);

const MessageLineView = NamedObject('MessageLine', {
  id: Uuid,
  acceptedAt: Time('When it was accepted.'),
  state: MessageStateSchema,
  stateAt: Time('When the state last changed.'),
  templateId: Type.String(),
  templateVersion: Whole('Negative for a test message of a draft.'),
  to: Nullable(Text('Null once personal data is erased.')),
  from: Nullable(Type.String()),
  subject,
  tag: Nullable(Type.String()),
  externalId: Nullable(Type.String()),
  locale: Nullable(Text('The locale of the request.')),
  transactional: Type.Boolean(),
  test: Flag('Whether it is a test message, sent with a test key.'),
  nextAttemptAt: Nullable(Time('When the next attempt is due.')),
  reason: Nullable(Text('Why it’s waiting.')),
  paused: Flag('Whether it, its domain or all mail is paused.'),
});

/** The response of the contract's message operation, plus the content. */
const MessageView = OpenObject('Message', {
  ...messageFields,
  subject,
  recipients: Type.Array(
    Type.Object({
      ...recipientFields,
      explanation: NamedObject('Explanation', {
        sentence: Text('What happened to the message, in one sentence.'),
        nextStep: Text('What you can do next.'),
        reply: OptionalText(
          'The receiving server’s reply, with `<to>` and `<cc 1>` for addresses.',
        ),
      }),
    }),
  ),
  content: Nullable(
    Type.Unsafe<ContentView>({
      type: 'object',
      description: 'Addresses, overrides and values, with secret values masked. Null once erased.',
    }),
  ),
});

/** The filters of the message log. */
export const messageFilters = optional({
  search: Text(
    'A message ID, external ID, tag, template ID, whole address or `name=value` of an attribute, or words of the subject. Case matters only in IDs, tags and attributes.',
    { maxLength: 320 },
  ),
  state: MessageStateSchema,
  templateId: Type.String({ maxLength: 64 }),
  tag: Type.String({ maxLength: 48 }),
  externalId: Type.String({ maxLength: 128 }),
  recipient: Text('A To, Cc or Bcc address, or part of a To address, case-insensitive.', {
    maxLength: 320,
  }),
  attribute: Text('An attribute as `name=value`.', {
    maxLength: maxAttributeName + 1 + maxAttributeValue,
  }),
  locale: Text('A locale of requests, such as `de`, which includes `de-AT`.', {
    maxLength: maxLocaleLength,
  }),
  clientId: Type.String({ maxLength: 64 }),
  transactional: Type.Boolean(),
  mode: Type.Enum([...keyModes], { description: 'Only live messages, or only test messages.' }),
  waiting: Flag('Only messages that aren’t final.'),
  from: TimeOrDay('Accepted at or after this time.'),
  until: TimeOrDay('Accepted before this time.'),
});

const exportQuery = StrictObject(messageFilters);

function filterOf(
  query: Static<typeof exportQuery>,
): MessageListFilter & { readonly search: string | undefined } {
  const { search, recipient, locale, from, until, ...rest } = query;
  return {
    ...rest,
    search: search?.trim() || undefined,
    recipient: recipient === undefined ? undefined : comparableAddress(recipient),
    locale: readOptionalLocale(locale),
    from: readOptionalTime('from', from),
    until: readOptionalTime('until', until),
  };
}

export const listMessages = defineOperation({
  id: 'listMessages',
  summary: 'List messages, newest first',
  description:
    'Each page has a time budget of a few milliseconds, so it can be short or empty even if more pages follow. Continue until `nextCursor` is null.',
  query: pageQuery(messageFilters),
  answer: pageOf(MessageLineView),
  async handle(call) {
    const [before] = readCursor(call.query, ['uuid']) ?? [];
    const { cursor: _, limit: __, ...filters } = call.query;
    const page = { before, limit: pageSizeOf(call.query) };
    const { lines, next } = await readLogPage(call, filterOf(filters), page);
    return { items: lines, nextCursor: next === undefined ? null : writeCursor([next]) };
  },
});

export const exportMessages = defineOperation({
  id: 'exportMessages',
  summary: 'Export messages as CSV, newest first',
  description: `The newest ${maxExported.toLocaleString('en-US')} messages that match. Filter by time to export earlier ones.`,
  query: exportQuery,
  produces: 'text/csv',
  async handle(call) {
    const filter = filterOf(call.query);
    await sendPages(call, 'messages.csv', exportedColumns, (before: string | undefined, limit) =>
      readLogPage(call, filter, { before, limit }),
    );
  },
});

const exportedColumns: Readonly<Record<string, (line: LogLine) => string | number | null>> = {
  id: (line) => line.id,
  accepted_at: (line) => line.acceptedAt.toISOString(),
  state: (line) => line.state,
  state_at: (line) => line.stateAt.toISOString(),
  to: (line) => line.to,
  from: (line) => line.from,
  subject: (line) => line.subject,
  template_id: (line) => line.templateId,
  template_version: (line) => line.templateVersion,
  tag: (line) => line.tag,
  external_id: (line) => line.externalId,
  locale: (line) => line.locale,
  transactional: (line) => String(line.transactional),
  test: (line) => String(line.test),
};

/** @throws Problem if the message doesn't exist */
export async function requireMessage(call: OperationCall) {
  const { accountId, messageId } = call.params;
  const status = await readMessageStatus(call.kysely, accountId, messageId);
  if (status === undefined) throw notFound('message');
  return status;
}

export const getMessage = defineOperation({
  id: 'getMessage',
  summary: 'Get a message with recipients, events and content',
  answer: MessageView,
  async handle(call) {
    const status = await requireMessage(call);
    const { messageId } = call.params;
    const { success: _, ...described } = describeMessage(messageId, status, accountOf(call));
    const { template_id: templateId, template_version: templateVersion } = status.message;
    const subjectOf = await readSubjectsOf(call, [{ messageId, templateId, templateVersion }]);
    const secret = await findSecretNames(call, status.message);
    const recipients = described.recipients.map((recipient, place) => ({
      ...recipient,
      explanation: explainMessage(status, place),
    }));
    const content = maskContent(status.message.content, secret);
    return { ...described, subject: subjectOf(messageId), recipients, content };
  },
});

export const getRenderedMessage = defineOperation({
  id: 'getRenderedMessage',
  summary: 'Render a message, with secret values masked',
  conflict: true,
  answer: NamedObject('RenderedMessage', {
    subject: Type.String(),
    html: Nullable(Type.String()),
    text: Nullable(Type.String()),
    images: Type.Array(ImageView, {
      description:
        'Images of the template that its HTML shows as `cid:…`, without those that an attachment replaces.',
    }),
  }),
  async handle(call) {
    const { message } = await requireMessage(call);
    const { content } = message;
    if (content === null) throw conflict('The content of this message was erased');
    if (message.template_id === rawTemplateId) return showRaw(call, content);
    const template = await call.dependencies.templates.localized(
      call.params.accountId,
      message.template_id as TemplateId,
      message.template_version,
      content.locale,
    );
    if (template === undefined) throw notFound('version');
    const values = maskedValues(
      content,
      await findSecretNames(call, message),
      template.compiled.fields,
    );
    const { subjectLine, previewText, locale } = content;
    const input = { values, subjectLine, previewText, locale };
    const { subject, html, text } = renderOrExplain(template, input);
    const { images = [] } = template.compiled;
    return { subject, html, text, images: withoutReplaced(images, content.attachments ?? []) };
  },
});

/** Larger ones can be downloaded. */
const maxShownBytes = 2 * 1_024 * 1_024;

/** A message that was submitted complete, as mail programs read it. */
async function showRaw(call: OperationCall, content: StoredContent) {
  const source = rawSourceOf(content);
  if (source === undefined) throw conflict('The content of this message was erased');
  if (source.size > maxShownBytes) throw conflict('This message is too large to show; download it');
  const { attachments } = call.dependencies;
  const bytes = await attachments.read(call.params.accountId, source.sha256);
  if (bytes === undefined) throw notFound('content');
  const { subject, html, text, unread } = await parseMail(bytes, { group: call.params.accountId });
  if (unread) throw conflict('This message can’t be read, so it can’t be shown; download it');
  return { subject, html, text, images: [] };
}

function renderOrExplain(...args: Parameters<typeof renderMessage>) {
  try {
    return renderMessage(...args);
  } catch (error) {
    if (!(error instanceof RenderingTooLarge)) throw error;
    throw conflict(`This message can’t be rendered: ${error.message}`);
  }
}

export const getMessageAttachment = defineOperation({
  id: 'getMessageAttachment',
  summary: 'Download an attachment of a message',
  description: 'Its name and type are in the message’s content.',
  produces: 'application/octet-stream',
  async handle(call) {
    const { message } = await requireMessage(call);
    const info = message.content?.attachments?.[call.params.attachment - 1];
    if (info === undefined) throw notFound('attachment');
    const { attachments } = call.dependencies;
    const content = await attachments.open(call.params.accountId, info.sha256);
    if (content === undefined) throw notFound('attachment');
    sendDownload(call.reply, { filename: info.filename, size: info.size, content });
  },
});

export const getMessageImage = defineOperation({
  id: 'getMessageImage',
  summary: 'Download an image of a message’s template',
  description:
    'An image of the template version that the message was sent with, also if the template was deleted.',
  produces: 'application/octet-stream',
  async handle(call) {
    const { template_id: templateId, template_version: version } = (await requireMessage(call))
      .message;
    return sendImage(call, templateId as TemplateId, version);
  },
});
