import type { MessageContent } from '../message/message-content.ts';
import { headFields, readEntity } from '../message/mime-entity.ts';
import {
  encodeForSevenBits,
  hasLongLines,
  isEightBit,
} from '../rendering/encode-for-seven-bits.ts';
import { mailboxHeader, textHeader } from '../rendering/message-headers.ts';
import { trackHtmlParts } from '../rendering/track-html-parts.ts';
import { type MailDecoration, type PreparedMail, redirectHeader } from './prepare-mail.ts';

const nonAscii = /[\x80-\xff]/;

/**
 * Prepares a message that was submitted complete: its bytes as they were accepted, with tracking if that was asked for, after
 * the fields that delivery adds. The output depends only on the message, so every attempt produces the same bytes.
 */
export function prepareRawMail(
  content: MessageContent,
  submitted: Buffer,
  redirected: boolean,
  decoration: MailDecoration = {},
): PreparedMail {
  const { htmlTracking } = decoration;
  const source = htmlTracking === undefined ? submitted : trackHtmlParts(submitted, htmlTracking);
  const lines = [
    ...(redirected ? [textHeader(redirectHeader, content.to)] : []),
    ...(content.receiveReplies === true && content.replyTo !== undefined
      ? [mailboxHeader('Reply-To', [{ address: content.replyTo }])]
      : []),
    ...(decoration.headerLines ?? []),
  ];
  const added = Buffer.from(lines.map((line) => `${line}\r\n`).join(''), 'latin1');
  const { head, body } = readEntity(source);
  const whole = Buffer.concat([added, source]);
  // RFC 5322 section 2.1.1: servers break longer lines, which would break the signature.
  const raw = hasLongLines(body) ? encodeForSevenBits(whole) : whole;
  const fields = headFields(head);
  const messageId = fields.find((field) => /^message-id:/i.test(field)) ?? '';
  return {
    mail: {
      raw,
      messageId: messageId.slice(messageId.indexOf(':') + 1).trim(),
      needsSmtpUtf8: fields.some((field) => nonAscii.test(field)),
      composeAscii: undefined,
      ...(raw === whole &&
        isEightBit(body) && { composeSevenBit: () => encodeForSevenBits(whole) }),
    },
    notes: [],
  };
}
