import { domainOf, needsSmtpUtf8 } from '../../base/values/email-address.ts';
import type { MaybePromise } from '../../base/values/maybe-promise.ts';
import { attachTo, type EncodedAttachment } from './compose-attachments.ts';
import type { EncodedBody } from './encode-body.ts';
import { type HeaderMailbox, mailboxHeader, mailDate, textHeader } from './message-headers.ts';
import type { RenderedMail } from './render-message.ts';

/** The sender and recipients in a message's headers. */
export interface HeaderAddresses {
  readonly from: HeaderMailbox;
  /** Added to the header unless it is just the From address. */
  readonly replyTo?: readonly HeaderMailbox[] | undefined;
  /** Empty: the message has no To header. */
  readonly to: readonly HeaderMailbox[];
  /** Without suppressed recipients. */
  readonly cc?: readonly HeaderMailbox[] | undefined;
}

/** Identifies the message; the same on every attempt. */
export interface MessageIdentity {
  /** UUID of the message. */
  readonly messageId: string;
  /** When it was accepted. */
  readonly acceptedAt: Date;
  /** The domain of the Message-ID; by default the domain of the From address. */
  readonly host?: string | undefined;
  /** Additional human-readable headers. The caller chooses the names; values are sanitized. */
  readonly headers?: readonly (readonly [name: string, value: string])[] | undefined;
  /** Complete header lines of structured fields: ASCII, folded where needed, without the final CRLF. */
  readonly headerLines?: readonly string[] | undefined;
}

export interface ComposedMessage {
  /** The whole message with CRLF line endings; ASCII, unless `needsSmtpUtf8`. */
  readonly raw: Buffer;
  /** `<uuid@domain>`, as in the header. */
  readonly messageId: string;
  /** An address has a non-ASCII local part, which requires SMTPUTF8 (RFC 6531, 6532). */
  readonly needsSmtpUtf8: boolean;
  /**
   * The message for recipients with ASCII addresses when other recipients need SMTPUTF8; any server accepts it.
   * Undefined if `raw` is ASCII already, or the sender's own address needs SMTPUTF8.
   */
  readonly composeAscii: (() => Buffer) | undefined;
  /** The message for servers without 8BITMIME. Absent: any server accepts `raw`. */
  readonly composeSevenBit?: () => MaybePromise<Buffer>;
}

const CRLF = '\r\n';

/**
 * Composes the message (RFC 5322, 2045 to 2047, 2049). The output is deterministic: the same input gives the same
 * bytes on every attempt.
 */
export function composeMime(
  rendered: RenderedMail,
  addresses: HeaderAddresses,
  identity: MessageIdentity,
  attachments: readonly EncodedAttachment[] = [],
): ComposedMessage {
  const messageId = `<${identity.messageId}@${identity.host ?? domainOf(addresses.from.address)}>`;
  const { from, replyTo = [], to, cc = [] } = addresses;
  const isInternational = ({ address }: HeaderMailbox): boolean => needsSmtpUtf8(address);
  const senderNeedsUtf8 = [from, ...replyTo].some(isInternational);
  const needsUtf8 = senderNeedsUtf8 || [...to, ...cc].some(isInternational);
  const body = composeBody(rendered, identity.messageId);
  const compose = (form: 'utf8' | 'ascii'): Buffer => {
    const head = composeHead(rendered.subject, addresses, identity, messageId, form);
    const encoding = form === 'utf8' && needsUtf8 ? 'utf8' : 'latin1';
    if (attachments.length === 0) return Buffer.from(head + body, encoding);
    const pieces = attachTo(body, rendered.hasHtml, identity.messageId, attachments);
    return Buffer.concat(
      [head, ...pieces].map((piece) =>
        typeof piece === 'string' ? Buffer.from(piece, encoding) : piece,
      ),
    );
  };
  return {
    raw: compose('utf8'),
    messageId,
    needsSmtpUtf8: needsUtf8,
    composeAscii: needsUtf8 && !senderNeedsUtf8 ? () => compose('ascii') : undefined,
  };
}

/** @param form `ascii`: addresses that need SMTPUTF8 are shown by name and can't be replied to */
function composeHead(
  subject: string,
  addresses: HeaderAddresses,
  identity: MessageIdentity,
  messageId: string,
  form: 'utf8' | 'ascii',
): string {
  const { from, replyTo = [], to, cc = [] } = addresses;
  const recipients = (name: string, mailboxes: readonly HeaderMailbox[]): string[] => {
    if (mailboxes.length === 0) return [];
    const shown = mailboxes.map(({ address, displayName }) => ({
      address,
      displayName,
      removed: form === 'ascii' && needsSmtpUtf8(address),
    }));
    return [mailboxHeader(name, shown)];
  };
  const isFrom = replyTo.every(({ address }) => address === from.address);
  const lines = [
    mailboxHeader('From', [from]),
    ...(isFrom ? [] : [mailboxHeader('Reply-To', replyTo)]),
    ...recipients('To', to),
    ...recipients('Cc', cc),
    textHeader('Subject', subject),
    `Date: ${mailDate(identity.acceptedAt)}`,
    `Message-ID: ${messageId}`,
    ...(identity.headers ?? []).map(([name, value]) => textHeader(name, value)),
    ...(identity.headerLines ?? []),
    // RFC 3834 section 5: suppresses vacation replies and other automatic replies.
    'Auto-Submitted: auto-generated',
    'MIME-Version: 1.0',
  ];
  return lines.join(CRLF) + CRLF;
}

function composeBody(rendered: RenderedMail, id: string): string {
  const text = rendered.encodeText();
  const html = rendered.encodeHtml();
  if (html === null)
    return part('text/plain', text ?? { encoding: 'quoted-printable', content: '' });
  if (text === null) return part('text/html', html);
  // `=_` never occurs in quoted-printable or base64 text, so no part can contain the boundary.
  const boundary = `=_${id}`;
  return [
    `Content-Type: multipart/alternative;${CRLF} boundary="${boundary}"${CRLF}`,
    `${CRLF}--${boundary}${CRLF}${part('text/plain', text)}`,
    `${CRLF}--${boundary}${CRLF}${part('text/html', html)}`,
    `${CRLF}--${boundary}--${CRLF}`,
  ].join('');
}

function part(type: string, { encoding, content }: EncodedBody): string {
  return `Content-Type: ${type}; charset=utf-8${CRLF}Content-Transfer-Encoding: ${encoding}${CRLF}${CRLF}${content}`;
}
