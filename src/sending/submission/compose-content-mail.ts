import type { EmailAddress } from '../../base/values/email-address.ts';
import { newId } from '../../base/values/ids.ts';
import type { MessageSender } from '../../content/message/message-content.ts';
import type { EncodedAttachment } from '../../content/rendering/compose-attachments.ts';
import { encodeAttachment } from '../../content/rendering/compose-attachments.ts';
import { composeMime } from '../../content/rendering/compose-mime.ts';
import { customHeaders } from '../../content/rendering/custom-header.ts';
import type { FilledContent, FilledTexts } from '../../content/rendering/fill-content.ts';
import { fillContent, renderTexts } from '../../content/rendering/fill-content.ts';
import type { HeaderMailbox } from '../../content/rendering/message-headers.ts';
import { formatBytes, mebibyte } from '../../host/http/limits/route-limits.ts';
import type { CheckedAttachments } from './check-attachments.ts';
import { unusableField, unusableFields } from './describe-body-problems.ts';
import type { ParsedContentRequest, ParsedSendRequest } from './send-request.ts';

/** Everyone in a message, named as the caller wrote it. Headers show all but Bcc. */
export type MailPeople = Readonly<
  Record<'to' | 'cc' | 'bcc' | 'replyTo', readonly HeaderMailbox[]>
>;

/**
 * The texts of a message with its values. Those without placeholders are never compiled.
 * @throws Fault VALIDATION_FAILED if they can't be filled, Busy if too many wait
 */
export async function fillTexts(
  { texts, literal, request }: ParsedContentRequest,
  group: string,
): Promise<Exclude<FilledContent, { readonly kind: 'invalid' }>> {
  const { subject, html = null, text = null } = texts;
  const isFixed = ![subject, html, text].some((part) => part?.includes('{{'));
  if (literal || isFixed) return { kind: 'filled', subject, html, text };
  const values = request.values as Readonly<Record<string, string>>;
  const content = { ...texts, values, locale: request.locale } as const;
  const filled = await fillContent(content, group);
  if (filled.kind !== 'invalid') return filled;
  throw unusableFields(filled.problems);
}

/** What a message is composed from, besides its texts. */
export interface ContentHead extends Pick<ParsedContentRequest, 'date'> {
  readonly request: ParsedSendRequest;
  readonly people: MailPeople;
  /** Undefined: not checked yet. */
  readonly from?: MessageSender;
}

/** Bytes of HTML and text with their values: a request has a quarter of it, and what is stored should not be many times that. */
const maxTextBytes = mebibyte;

/**
 * Composes a complete message from the content of a request, in the form that templates have.
 * @throws Fault VALIDATION_FAILED if its values make it too large
 */
export async function composeContentMail(
  filled: FilledTexts,
  head: ContentHead,
  attachments: CheckedAttachments | undefined,
): Promise<Buffer> {
  const { html, text } = filled;
  if (Buffer.byteLength(html ?? '') + Buffer.byteLength(text ?? '') > maxTextBytes) {
    const reason = `makes HTML and text larger than ${formatBytes(maxTextBytes)}; send shorter values`;
    throw unusableField('content.personalizationDataMap', reason);
  }
  const encoded: EncodedAttachment[] = [];
  const contents = new Map(attachments?.contents.map(({ sha256, content }) => [sha256, content]));
  for (const info of attachments?.infos ?? []) {
    const content = contents.get(info.sha256) ?? Buffer.alloc(0);
    encoded.push({ ...info, encoded: await encodeAttachment(content) });
  }
  return composeTexts(filled, head, encoded);
}

/** The same without these checks. */
export function composeTexts(
  filled: FilledTexts,
  { request, date, people, from }: ContentHead,
  attachments: readonly EncodedAttachment[] = [],
): Buffer {
  const { to, cc, replyTo } = people;
  const { address, name } = from ?? { address: request.from, name: request.fromDisplayName };
  const sender = { address: address as EmailAddress, displayName: name };
  const headerLines = customHeaders(request.headers);
  const identity = { messageId: newId(), acceptedAt: date, headerLines };
  const addresses = { from: sender, to, cc, replyTo };
  return composeMime(renderTexts(filled), addresses, identity, attachments).raw;
}
