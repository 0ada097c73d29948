import { Type } from 'typebox';
import type { TemplateId } from '../../foundation/ids.ts';
import { describeMessage } from '../../message/describe-message.ts';
import type { StoredContent } from '../../message/message-content.ts';
import { readMessageStatus, type StoredMessage } from '../../message/message-status-store.ts';
import { MessageStateSchema, messageFields, recipientFields } from '../../message/message-view.ts';
import { renderMessage } from '../../rendering/render-message.ts';
import { RenderingTooLarge } from '../../rendering/rendering-too-large.ts';
import { explainMessage } from '../../report/explain-message.ts';
import { Nullable, strict, Time, TimeOrDay, Uuid } from '../answer/common-schemas.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, writeCursor } from '../answer/page.ts';
import { notFound, Problem } from '../answer/problem.ts';
import { readOptionalTime } from '../answer/read-time.ts';
import { accountOf, defineOperation, type OperationCall } from '../operation.ts';
import { maskContent, maskedValues } from './mask-content.ts';
import { type MessageListFilter, readMessagePage, readSecretNames } from './message-page-store.ts';

const MessageLineView = Type.Object(
  {
    id: Uuid,
    acceptedAt: Time('When it was accepted.'),
    state: MessageStateSchema,
    stateAt: Time('Since when it is in this state.'),
    templateId: Type.String(),
    templateVersion: Type.Integer(),
    to: Nullable(Type.String({ description: 'Null once the personal data is erased.' })),
    from: Nullable(Type.String()),
    tag: Nullable(Type.String()),
    externalId: Nullable(Type.String()),
    transactional: Type.Boolean(),
    nextAttemptAt: Nullable(Time('When it is tried next.')),
    reason: Nullable(Type.String({ description: 'Why it waits.' })),
  },
  { ...strict, title: 'MessageLine' },
);

/** As the contract's message operation answers it, and the content. */
const MessageView = Type.Object(
  {
    ...messageFields,
    recipients: Type.Array(
      Type.Object({
        ...recipientFields,
        explanation: Type.Object(
          {
            sentence: Type.String({ description: 'Why it has not arrived, or that it has.' }),
            nextStep: Type.String({ description: 'What can be done.' }),
          },
          { ...strict, title: 'Explanation' },
        ),
      }),
    ),
    content: Nullable(
      Type.Unsafe<StoredContent>({
        type: 'object',
        description: 'Addresses, overrides and values; secret values are masked. Null once erased.',
      }),
    ),
  },
  { title: 'Message' },
);

export const listMessages = defineOperation({
  id: 'listMessages',
  summary: 'List the messages of an account, newest first',
  description:
    'One page looks for some milliseconds only, so it can be short, or empty, and still have a next one.',
  query: pageQuery({
    state: Type.Optional(MessageStateSchema),
    templateId: Type.Optional(Type.String({ maxLength: 64 })),
    tag: Type.Optional(Type.String({ maxLength: 48 })),
    externalId: Type.Optional(Type.String({ maxLength: 128 })),
    recipient: Type.Optional(
      Type.String({
        description: 'An address of To or Cc, or a part of To, in any case.',
        maxLength: 320,
      }),
    ),
    clientId: Type.Optional(Type.String({ maxLength: 64 })),
    transactional: Type.Optional(Type.Boolean()),
    waiting: Type.Optional(Type.Boolean({ description: 'Only what is not final.' })),
    from: Type.Optional(TimeOrDay('Accepted at this time or later.')),
    until: Type.Optional(TimeOrDay('Accepted before this time.')),
  }),
  answer: pageOf(MessageLineView),
  async handle(call) {
    const [before] = readCursor(call.query, 'uuid') ?? [];
    const { cursor: _, limit: __, from, until, recipient, ...rest } = call.query;
    const filter: MessageListFilter = {
      ...rest,
      recipient: recipient?.toLowerCase(),
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

/** @throws Problem where the account has no such message */
export async function requireMessage(call: OperationCall) {
  const { database } = call.dependencies;
  const { id } = accountOf(call);
  const status = await readMessageStatus(database.kysely, id, call.params.messageId);
  if (status === undefined) throw notFound('message');
  return status;
}

export function secretNamesOf(
  call: OperationCall,
  message: StoredMessage,
): Promise<ReadonlySet<string>> {
  return readSecretNames(
    call.dependencies.database.kysely,
    accountOf(call).id,
    message.template_id as TemplateId,
    message.template_version,
  );
}

export const getMessage = defineOperation({
  id: 'getMessage',
  summary: 'Read a message: recipients, events, what comes next and why, and its content',
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
  summary: 'Read a message as it looks, its secret values masked',
  answer: Type.Object(
    {
      subject: Type.String(),
      html: Nullable(Type.String()),
      text: Nullable(Type.String()),
    },
    { ...strict, title: 'RenderedMessage' },
  ),
  async handle(call) {
    const { message } = await requireMessage(call);
    const { content } = message;
    if (content === null) throw new Problem('conflict', 'The content of this message was erased');
    const template = await call.dependencies.templates.version(
      accountOf(call).id,
      message.template_id as TemplateId,
      message.template_version,
    );
    if (template === undefined) throw notFound('version');
    const values = maskedValues(content, await secretNamesOf(call, message));
    const { subjectLine, previewText } = content;
    const { subject, html, text } = renderOrExplain(template, { values, subjectLine, previewText });
    return { subject, html, text };
  },
});

function renderOrExplain(...given: Parameters<typeof renderMessage>) {
  try {
    return renderMessage(...given);
  } catch (error) {
    if (!(error instanceof RenderingTooLarge)) throw error;
    throw new Problem('conflict', `It can't be shown: ${error.message}`);
  }
}
