import {
  Flag,
  NamedObject,
  Nullable,
  optional,
  Text,
} from '../../../base/values/common-schemas.ts';
import {
  type ComparableAddress,
  normalizeAddress,
  parseEmailAddress,
} from '../../../base/values/email-address.ts';
import { listReplies, readReply } from '../../../outcomes/reply/reply-store.ts';
import {
  describeReply,
  maxReplyBodyBytes,
  ReplyView,
  replySummaryFields,
  summarizeReply,
} from '../../../outcomes/webhook/describe-reply.ts';
import { definePages } from '../answer/list-operations.ts';
import { invalidField, notFound } from '../answer/problem.ts';
import { sendDownload } from '../answer/send-download.ts';
import { defineOperation, type OperationCall } from '../operation.ts';
import { readSubjectsOf } from './mask-content.ts';

const ReplySummary = NamedObject('ReplySummary', {
  ...replySummaryFields,
  preview: Text('The first line of its text, cut to 120 characters; empty if unknown or erased.'),
  authenticated: Nullable(
    Flag('Whether the domain of `from` confirms it (DMARC passes); null once erased.'),
  ),
  messageSubject: Nullable(Text('Of the message; null once its personal data is erased.')),
});

export const listMessageReplies = definePages({
  id: 'listReplies',
  summary: 'List replies, newest first',
  description: 'Replies to messages with `receiveReplies`. They are erased with their messages.',
  filters: {
    ...optional({
      messageId: Text('Only replies to this message.', { format: 'uuid', maxLength: 36 }),
      from: Text('Only replies from this address.', { maxLength: 320 }),
    }),
  },
  item: ReplySummary,
  cursor: ['uuid'],
  async read(call, { after, limit }) {
    const { messageId, from } = call.query;
    const sender = from === undefined ? undefined : senderOf(from);
    const page = { messageId, sender, before: after?.[0], limit };
    const replies = await listReplies(call.kysely, call.params.accountId, page);
    const subjectOf = await readSubjectsOf(call, replies);
    return replies.map((reply) => ({ ...reply, messageSubject: subjectOf(reply.messageId) }));
  },
  view: ({ messageSubject, ...reply }) => ({
    ...summarizeReply(reply),
    preview: reply.content?.preview ?? '',
    authenticated: reply.content && reply.content.authentication.dmarc.result === 'pass',
    messageSubject,
  }),
  place: ({ id }) => [id],
});

function senderOf(from: string): ComparableAddress {
  const parsed = parseEmailAddress(from);
  if (!parsed.ok) throw invalidField('from', parsed.reason);
  return normalizeAddress(parsed.address);
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
      accountId: call.params.accountId,
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
    const stored = await call.dependencies.attachments.open(call.params.accountId, part.sha256);
    if (stored === undefined) throw notFound('part of the reply');
    const { filename, size } = part;
    sendDownload(call.reply, { filename, size, content: stored });
  },
});

async function requireReply(call: OperationCall) {
  const { kysely } = call;
  const reply = await readReply(kysely, call.params.accountId, call.params.replyId);
  if (reply === undefined) throw notFound('reply');
  return reply;
}
