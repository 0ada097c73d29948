import { Type } from 'typebox';
import { NamedObject, Nullable } from '../../../base/values/common-schemas.ts';
import {
  type ComparableAddress,
  normalizeAddress,
  parseEmailAddress,
} from '../../../base/values/email-address.ts';
import { type ListedReply, listReplies, readReply } from '../../../outcomes/reply/reply-store.ts';
import { readSubjects } from '../../../outcomes/report/read-subjects-store.ts';
import {
  describeReply,
  maxReplyBodyBytes,
  ReplyView,
  replySummaryFields,
  summarizeReply,
} from '../../../outcomes/webhook/describe-reply.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, toPage } from '../answer/page.ts';
import { invalidField, notFound } from '../answer/problem.ts';
import { sendDownload } from '../answer/send-download.ts';
import { accountOf, defineOperation, type OperationCall } from '../operation.ts';

const ReplySummary = NamedObject('ReplySummary', {
  ...replySummaryFields,
  preview: Type.String({
    description: 'The first line of its text, cut to 120 characters; empty if unknown or erased.',
  }),
  authenticated: Nullable(
    Type.Boolean({
      description: 'Whether the domain of `from` confirms it (DMARC passes); null once erased.',
    }),
  ),
  messageSubject: Nullable(
    Type.String({ description: 'Of the message; null once its personal data is erased.' }),
  ),
});

export const listMessageReplies = defineOperation({
  id: 'listReplies',
  summary: 'List replies, newest first',
  description: 'Replies to messages with `receiveReplies`. They are erased with their messages.',
  query: pageQuery({
    messageId: Type.Optional(
      Type.String({ format: 'uuid', maxLength: 36, description: 'Only replies to this message.' }),
    ),
    from: Type.Optional(
      Type.String({ maxLength: 320, description: 'Only replies from this address.' }),
    ),
  }),
  answer: pageOf(ReplySummary),
  async handle(call) {
    const limit = pageSizeOf(call.query);
    const [before] = readCursor(call.query, 'uuid') ?? [];
    const { messageId, from } = call.query;
    const { kysely } = call.dependencies.database;
    const rows = await listReplies(kysely, accountOf(call).id, {
      messageId,
      sender: from === undefined ? undefined : senderOf(from),
      before,
      limit: limit + 1,
    });
    const subjects = await subjectsOf(call, rows);
    return toPage(
      rows,
      limit,
      (reply) => ({
        ...summarizeReply(reply),
        preview: reply.content?.preview ?? '',
        authenticated: reply.content && reply.content.authentication.dmarc.result === 'pass',
        messageSubject: subjects.get(reply.messageId)?.text ?? null,
      }),
      ({ id }) => [id],
    );
  },
});

function senderOf(from: string): ComparableAddress {
  const parsed = parseEmailAddress(from);
  if (!parsed.ok) throw invalidField('from', parsed.reason);
  return normalizeAddress(parsed.address);
}

/** The subjects of the messages that got replies. */
async function subjectsOf(call: OperationCall, replies: readonly ListedReply[]) {
  const { database, templates } = call.dependencies;
  const { id: accountId } = accountOf(call);
  const refs = replies.flatMap(({ messageId: id, templateId, templateVersion: version }) =>
    templateId === null || version === null ? [] : [{ accountId, id, templateId, version }],
  );
  return await readSubjects(database.kysely, templates, refs);
}

export const getReply = defineOperation({
  id: 'getReply',
  summary: 'Get a reply',
  description:
    'As `data.reply` of its webhook: with as much of its text, HTML and attachments as fits into 1 MiB; the rest is linked.',
  answer: ReplyView,
  async handle(call) {
    const reply = await requireReply(call);
    return describeReply(reply, {
      accountId: accountOf(call).id,
      attachments: call.dependencies.attachments,
      publicUrl: call.dependencies.publicUrl(),
      maxBytes: maxReplyBodyBytes,
    });
  },
});

export const getReplyPart = defineOperation({
  id: 'getReplyPart',
  summary: 'Download a part of a reply',
  description: 'Its text, HTML or an attachment, as `getReply` links it. 404 once erased.',
  produces: 'application/octet-stream',
  async handle(call) {
    const { content } = await requireReply(call);
    const part = content?.parts[call.params.part - 1];
    if (part === undefined) throw notFound('part of the reply');
    const stored = await call.dependencies.attachments.open(accountOf(call).id, part.sha256);
    if (stored === undefined) throw notFound('part of the reply');
    const { filename, size } = part;
    sendDownload(call.reply, { filename, size, content: stored });
    return undefined;
  },
});

async function requireReply(call: OperationCall) {
  const { kysely } = call.dependencies.database;
  const reply = await readReply(kysely, accountOf(call).id, call.params.replyId);
  if (reply === undefined) throw notFound('reply');
  return reply;
}
