import type { EmailAddress } from '../../base/values/email-address.ts';
import { Fault } from '../../base/values/errors.ts';
import { newId } from '../../base/values/ids.ts';
import { encodeAttachment } from '../../content/rendering/compose-attachments.ts';
import { composeMime, type HeaderAddresses } from '../../content/rendering/compose-mime.ts';
import { customHeaders } from '../../content/rendering/custom-header.ts';
import {
  type FilledContent,
  fillContent,
  renderTexts,
} from '../../content/rendering/fill-content.ts';
import type { HeaderMailbox } from '../../content/rendering/message-headers.ts';
import { formatBytes, mebibyte } from '../../host/http/limits/route-limits.ts';
import type { CheckedAttachments } from './check-attachments.ts';
import type { CheckedSender } from './check-sender.ts';
import { limitDetails } from './describe-body-problems.ts';
import type { ParsedContentRequest } from './send-request.ts';

/** An address with the name that a header shows, as written by the caller. */
export interface Mailbox {
  readonly address: EmailAddress;
  readonly name?: string | undefined;
}

/** Everyone who gets a message. Headers show all but Bcc. */
export interface HeaderRecipients {
  readonly to: readonly Mailbox[];
  readonly cc?: readonly Mailbox[] | undefined;
  readonly bcc?: readonly Mailbox[] | undefined;
}

type FilledTexts = Exclude<FilledContent, { readonly kind: 'invalid' }>;

/**
 * The texts of a message with its values. Those without placeholders are never compiled.
 * @throws Fault VALIDATION_FAILED if they can't be filled, Busy if too many wait
 */
export async function fillTexts(
  { texts, literal, request }: ParsedContentRequest,
  group: string,
): Promise<FilledTexts> {
  const { subject, html, text } = texts;
  const isFixed = ![subject, html, text].some((part) => part?.includes('{{'));
  if (literal || isFixed)
    return { kind: 'filled', subject, html: html ?? null, text: text ?? null };
  const values = request.values as Readonly<Record<string, string>>;
  const content = { ...texts, values, locale: request.locale } as const;
  const filled = await fillContent(content, group);
  if (filled.kind !== 'invalid') return filled;
  throw new Fault('VALIDATION_FAILED', { details: limitDetails(filled.problems) });
}

/** What a message is composed from, besides its texts. */
export interface ContentHead {
  readonly parsed: ParsedContentRequest;
  readonly recipients: HeaderRecipients;
  /** Undefined: not checked yet. */
  readonly sender?: CheckedSender;
  readonly replyTo: readonly Mailbox[];
}

/** Bytes of the message without its attachments; 0 if it can't be sent anyway. */
export function measureContentMail(filled: FilledTexts, head: ContentHead): number {
  return filled.kind === 'filled' ? compose(filled, head).raw.length : 0;
}

/**
 * Composes a complete message from the content of a request, in the form that templates have.
 * @throws Fault VALIDATION_FAILED if its values make it too large
 */
export async function composeContentMail(
  filled: FilledTexts & { readonly kind: 'filled' },
  head: ContentHead,
  attachments: CheckedAttachments | undefined,
): Promise<Buffer> {
  const { html, text } = filled;
  if (Buffer.byteLength(html ?? '') + Buffer.byteLength(text ?? '') > maxTextBytes) {
    const reason = `makes HTML and text larger than ${formatBytes(maxTextBytes)}; send shorter values`;
    throw new Fault('VALIDATION_FAILED', {
      details: [{ field: 'content.personalizationDataMap', reason }],
    });
  }
  const encoded = [];
  const contents = new Map(attachments?.contents.map(({ sha256, content }) => [sha256, content]));
  for (const info of attachments?.infos ?? [])
    encoded.push({
      ...info,
      encoded: await encodeAttachment(contents.get(info.sha256) ?? Buffer.alloc(0)),
    });
  return compose(filled, head, encoded).raw;
}

/** Bytes of HTML and text with their values: a request has a quarter of it, and what is stored should not be many times that. */
const maxTextBytes = mebibyte;

function compose(
  { subject, html, text }: FilledTexts & { readonly kind: 'filled' },
  { parsed: { request, date }, recipients, sender, replyTo }: ContentHead,
  attachments: Parameters<typeof composeMime>[3] = [],
) {
  const mailboxes = (list: readonly Mailbox[] = []): HeaderMailbox[] =>
    list.map(({ address, name }) => ({ address, displayName: name }));
  const from = sender?.from ?? {
    address: request.from as EmailAddress,
    name: request.fromDisplayName,
  };
  const addresses: HeaderAddresses = {
    from: { address: from.address, displayName: from.name },
    replyTo: mailboxes(replyTo),
    to: mailboxes(recipients.to),
    cc: mailboxes(recipients.cc),
  };
  return composeMime(
    renderTexts({ subject, html: html ?? undefined, text: text ?? undefined }),
    addresses,
    { messageId: newId(), acceptedAt: date, headerLines: customHeaders(request.headers) },
    attachments,
  );
}
