import { Type } from 'typebox';
import { Nullable, strict, Time, TimeOrDay, Uuid } from '../../foundation/common-schemas.ts';
import type { TemplateId } from '../../foundation/ids.ts';
import { withoutReplaced } from '../../message/attachment.ts';
import { describeMessage } from '../../message/describe-message.ts';
import { maxAttributeName, maxAttributeValue } from '../../message/message-content.ts';
import { readMessageStatus, type StoredMessage } from '../../message/message-status-store.ts';
import { MessageStateSchema, messageFields, recipientFields } from '../../message/message-view.ts';
import { renderMessage } from '../../rendering/render-message.ts';
import { RenderingTooLarge } from '../../rendering/rendering-too-large.ts';
import { explainMessage } from '../../report/explain-message.ts';
import { maxLocaleLength } from '../../template/locale.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, writeCursor } from '../answer/page.ts';
import { notFound, Problem } from '../answer/problem.ts';
import { readOptionalTime } from '../answer/read-time.ts';
import { accountOf, defineOperation, type OperationCall } from '../operation.ts';
import { readOptionalLocale } from '../read-optional-locale.ts';
import { ImageView } from '../template/template-views.ts';
import { type ContentView, maskContent, maskedValues } from './mask-content.ts';
import { type MessageListFilter, readMessagePage, readSecretNames } from './message-page-store.ts';

const MessageLineView = Type.Object(
  {
    id: Uuid,
    acceptedAt: Time('When it was accepted.'),
    state: MessageStateSchema,
    stateAt: Time('When the state last changed.'),
    templateId: Type.String(),
    templateVersion: Type.Integer({ description: 'Negative for a test message of a draft.' }),
    to: Nullable(Type.String({ description: 'Null once personal data is erased.' })),
    from: Nullable(Type.String()),
    tag: Nullable(Type.String()),
    externalId: Nullable(Type.String()),
    transactional: Type.Boolean(),
    nextAttemptAt: Nullable(Time('When the next attempt is due.')),
    reason: Nullable(Type.String({ description: 'Why it’s waiting.' })),
  },
  { ...strict, title: 'MessageLine' },
);

/** The response of the contract's message operation, plus the content. */
const MessageView = Type.Object(
  {
    ...messageFields,
    recipients: Type.Array(
      Type.Object({
        ...recipientFields,
        explanation: Type.Object(
          {
            sentence: Type.String({
              description: 'What happened to the message, in one sentence.',
            }),
            nextStep: Type.String({ description: 'What you can do next.' }),
          },
          { ...strict, title: 'Explanation' },
        ),
      }),
    ),
    content: Nullable(
      Type.Unsafe<ContentView>({
        type: 'object',
        description:
          'Addresses, overrides and values, with secret values masked. Null once erased.',
      }),
    ),
  },
  { title: 'Message' },
);

export const listMessages = defineOperation({
  id: 'listMessages',
  summary: 'List messages, newest first',
  description:
    'Each page has a time budget of a few milliseconds, so it can be short or empty even if more pages follow. Continue until `nextCursor` is null.',
  query: pageQuery({
    state: Type.Optional(MessageStateSchema),
    templateId: Type.Optional(Type.String({ maxLength: 64 })),
    tag: Type.Optional(Type.String({ maxLength: 48 })),
    externalId: Type.Optional(Type.String({ maxLength: 128 })),
    recipient: Type.Optional(
      Type.String({
        description: 'A To, Cc or Bcc address, or part of a To address, case-insensitive.',
        maxLength: 320,
      }),
    ),
    attribute: Type.Optional(
      Type.String({
        description: 'An attribute as `name=value`.',
        maxLength: maxAttributeName + 1 + maxAttributeValue,
      }),
    ),
    locale: Type.Optional(
      Type.String({
        description: 'A locale of requests, such as `de`, which includes `de-AT`.',
        maxLength: maxLocaleLength,
      }),
    ),
    clientId: Type.Optional(Type.String({ maxLength: 64 })),
    transactional: Type.Optional(Type.Boolean()),
    waiting: Type.Optional(Type.Boolean({ description: 'Only messages that aren’t final.' })),
    from: Type.Optional(TimeOrDay('Accepted at or after this time.')),
    until: Type.Optional(TimeOrDay('Accepted before this time.')),
  }),
  answer: pageOf(MessageLineView),
  async handle(call) {
    const [before] = readCursor(call.query, 'uuid') ?? [];
    const { cursor: _, limit: __, from, until, recipient, locale, ...rest } = call.query;
    const filter: MessageListFilter = {
      ...rest,
      recipient: recipient?.toLowerCase(),
      locale: readOptionalLocale(locale),
      from: readOptionalTime('from', from),
      until: readOptionalTime('until', until),
    };
    const { lines, next } = await readMessagePage(
      call.dependencies.database.kysely,
      accountOf(call).id,
      filter,
      { before, limit: pageSizeOf(call.query) },
    );
    return { items: lines, nextCursor: next === undefined ? null : writeCursor([next]) };
  },
});

/** @throws Problem if the message doesn't exist */
export async function requireMessage(call: OperationCall) {
  const { database } = call.dependencies;
  const { id } = accountOf(call);
  const status = await readMessageStatus(database.kysely, id, call.params.messageId);
  if (status === undefined) throw notFound('message');
  return status;
}

function secretNamesOf(call: OperationCall, message: StoredMessage): Promise<ReadonlySet<string>> {
  return readSecretNames(
    call.dependencies.database.kysely,
    accountOf(call).id,
    message.template_id as TemplateId,
    message.template_version,
  );
}

export const getMessage = defineOperation({
  id: 'getMessage',
  summary: 'Get a message with recipients, events and content',
  answer: MessageView,
  async handle(call) {
    const status = await requireMessage(call);
    const { success: _, ...described } = describeMessage(
      call.params.messageId,
      status,
      accountOf(call),
    );
    const secret = await secretNamesOf(call, status.message);
    const recipients = described.recipients.map((recipient, place) => ({
      ...recipient,
      explanation: explainMessage(status, place),
    }));
    const content = maskContent(status.message.content, secret);
    return { ...described, recipients, content };
  },
});

export const getRenderedMessage = defineOperation({
  id: 'getRenderedMessage',
  summary: 'Render a message, with secret values masked',
  answer: Type.Object(
    {
      subject: Type.String(),
      html: Nullable(Type.String()),
      text: Nullable(Type.String()),
      images: Type.Array(ImageView, {
        description:
          'Images of the template that its HTML shows as `cid:…`, without those that an attachment replaces.',
      }),
    },
    { ...strict, title: 'RenderedMessage' },
  ),
  async handle(call) {
    const { message } = await requireMessage(call);
    const { content } = message;
    if (content === null) throw new Problem('conflict', 'The content of this message was erased');
    const template = await call.dependencies.templates.localized(
      accountOf(call).id,
      message.template_id as TemplateId,
      message.template_version,
      content.locale,
    );
    if (template === undefined) throw notFound('version');
    const values = maskedValues(
      content,
      await secretNamesOf(call, message),
      template.compiled.fields,
    );
    const { subjectLine, previewText, locale } = content;
    const input = { values, subjectLine, previewText, locale };
    const { subject, html, text } = renderOrExplain(template, input);
    const { images = [] } = template.compiled;
    return {
      subject,
      html,
      text,
      images: [...withoutReplaced(images, content.attachments ?? [])],
    };
  },
});

function renderOrExplain(...args: Parameters<typeof renderMessage>) {
  try {
    return renderMessage(...args);
  } catch (error) {
    if (!(error instanceof RenderingTooLarge)) throw error;
    throw new Problem('conflict', `This message can’t be rendered: ${error.message}`);
  }
}
