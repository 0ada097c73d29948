import { Type } from 'typebox';
import {
  Flag,
  NamedObject,
  Nullable,
  Text,
  Time,
  Uuid,
  Whole,
} from '../../base/values/common-schemas.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { AttachmentStore } from '../../content/message/attachment-store.ts';
import { AuthenticationSchema, MailboxSchema, type ReplyPart } from '../reply/reply-content.ts';
import type { StoredReply } from '../reply/reply-store.ts';

const partUrl = 'where to download it with an API key that has `messages:read`';

/** What is known of a reply without its parts. */
export const replySummaryFields = {
  replyId: Uuid,
  messageId: Text('The message that it replies to.', { format: 'uuid', maxLength: 36 }),
  receivedAt: Time('When it was received.'),
  size: Whole('Bytes of the whole mail.'),
  automatic: Flag('True if a program or a mailing list sent it. Never reply to it automatically.'),
  from: Nullable(MailboxSchema),
  subject: Nullable(Text('Null once personal data is erased.')),
};

/** A reply as webhooks and the management API return it. */
const replyFields = {
  ...replySummaryFields,
  unread: Flag(
    'True if its parts couldn’t be read. The whole mail is then its only attachment, `message.eml`.',
  ),
  envelopeFrom: Nullable(Text('The sender in SMTP; empty for automatic mail such as bounces.')),
  to: Type.Array(MailboxSchema),
  cc: Type.Array(MailboxSchema),
  replyTo: Type.Array(MailboxSchema),
  date: Nullable(Text('As the reply claims (RFC 3339).')),
  headers: NamedObject('ReplyHeaders', {
    messageId: Nullable(Type.String()),
    inReplyTo: Nullable(Type.String()),
    references: Type.Array(Type.String()),
    autoSubmitted: Nullable(Text('The keyword of Auto-Submitted (RFC 3834).')),
  }),
  authentication: Nullable(AuthenticationSchema),
  text: Nullable(Text('Null if it has none, or it has a `textUrl`.')),
  textUrl: Nullable(Text(`For a text that is too large: ${partUrl}.`)),
  html: Nullable(Text('As its sender wrote it: clean it before you show it.')),
  htmlUrl: Nullable(Text(`For HTML that is too large: ${partUrl}.`)),
  attachments: Type.Array(
    NamedObject('ReplyAttachment', {
      filename: Type.String(),
      contentType: Text('As its sender claims.'),
      contentId: Nullable(Text('The HTML shows it as `cid:…`.')),
      size: Whole('Bytes.'),
      content: Nullable(Text('Base64; null if it has a `url`.')),
      url: Nullable(Text(`For a large file: ${partUrl}.`)),
    }),
  ),
};

export const ReplyView = NamedObject('Reply', replyFields);

type Reply = Type.Static<typeof ReplyView>;

/** Max bytes of a body with a reply in it; what doesn't fit is linked. */
export const maxReplyBodyBytes = 1_024 * 1_024;

export interface ReplyDescription {
  readonly accountId: AccountId;
  readonly attachments: Pick<AttachmentStore, 'read'>;
  /** The public URL, without a trailing slash. */
  readonly publicUrl: string;
  /** Max bytes of the reply as JSON. */
  readonly maxBytes: number;
}

/** A reply with as much of its text, HTML and attachments as fits, in this order; the rest is linked. */
export async function describeReply(
  reply: StoredReply,
  { accountId, attachments, publicUrl, maxBytes }: ReplyDescription,
): Promise<Reply> {
  const urlOf = (index: number) =>
    `${publicUrl}/manage/v1/accounts/${accountId}/replies/${reply.id}/parts/${index + 1}`;
  let left = maxBytes - byteLength(withParts(reply, [], urlOf));
  const contents: (string | undefined)[] = [];
  for (const part of reply.content?.parts ?? []) {
    const text = part.size > left ? undefined : await readPart(attachments, accountId, part);
    const bytes = byteLength(text ?? '');
    const fits = text !== undefined && bytes <= left;
    if (fits) left -= bytes;
    contents.push(fits ? text : undefined);
  }
  return withParts(reply, contents, urlOf);
}

/** What is known of a reply without reading its parts. */
export function summarizeReply({ id, content, ...rest }: StoredReply) {
  const { messageId, receivedAt, size, automatic } = rest;
  return {
    replyId: id,
    messageId,
    receivedAt: receivedAt.toISOString(),
    size,
    automatic,
    from: content?.from ?? null,
    subject: content?.subject ?? null,
  };
}

/** Without content, it has been erased. */
function withParts(
  reply: StoredReply,
  contents: readonly (string | undefined)[],
  urlOf: (index: number) => string,
): Reply {
  const { content } = reply;
  const parts = content?.parts ?? [];
  const find = (kind: ReplyPart['kind']) => {
    const index = parts.findIndex((part) => part.kind === kind);
    if (index === -1) return { content: null, url: null };
    const text = contents[index];
    return { content: text ?? null, url: text === undefined ? urlOf(index) : null };
  };
  const text = find('text');
  const html = find('html');
  return {
    ...summarizeReply(reply),
    unread: content?.unread === true,
    envelopeFrom: content?.envelopeFrom ?? null,
    to: [...(content?.to ?? [])],
    cc: [...(content?.cc ?? [])],
    replyTo: [...(content?.replyTo ?? [])],
    date: content?.date ?? null,
    headers: {
      messageId: content?.messageId ?? null,
      inReplyTo: content?.inReplyTo ?? null,
      references: [...(content?.references ?? [])],
      autoSubmitted: content?.autoSubmitted ?? null,
    },
    authentication: content?.authentication ?? null,
    text: text.content,
    textUrl: text.url,
    html: html.content,
    htmlUrl: html.url,
    attachments: parts.flatMap((part, index) => {
      if (part.kind !== 'attachment') return [];
      const { filename, contentType, contentId, size } = part;
      const file = contents[index];
      const url = file === undefined ? urlOf(index) : null;
      return { filename, contentType, contentId, size, content: file ?? null, url };
    }),
  };
}

/** A part as the body contains it; undefined if it was just erased. */
async function readPart(
  attachments: ReplyDescription['attachments'],
  accountId: AccountId,
  { kind, sha256 }: ReplyPart,
): Promise<string | undefined> {
  const content = await attachments.read(accountId, sha256);
  return content?.toString(kind === 'attachment' ? 'base64' : 'utf8');
}

function byteLength(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
