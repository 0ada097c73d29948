import { type MailTurn, toBuffer } from '../../base/mime/mail-threads.ts';
import { findHeadEnd } from '../../base/mime/mime-entity.ts';
import type { MessageContent } from '../../content/message/message-content.ts';
import { mailboxHeader, textHeader } from '../../content/rendering/message-headers.ts';
import { planTracking } from '../../content/rendering/track-html-parts.ts';
import { encodeRawMail, finishRawMail } from './finish-raw-mail.ts';
import { type MailDecoration, type PreparedMail, redirectHeader } from './prepare-mail.ts';

/**
 * Prepares a message that was submitted complete: its bytes as they were accepted, with tracking if that was asked for, after
 * the fields that delivery adds. The output depends only on the message, so every attempt produces the same bytes.
 * @param turn of its account
 */
export async function prepareRawMail(
  content: MessageContent,
  submitted: Buffer,
  redirected: boolean,
  decoration: MailDecoration,
  turn: MailTurn,
): Promise<PreparedMail> {
  const { htmlTracking } = decoration;
  const changes =
    htmlTracking === undefined ? undefined : await planTracking(submitted, htmlTracking, turn);
  const lines = [
    ...(redirected ? [textHeader(redirectHeader, content.to)] : []),
    ...(content.receiveReplies === true && content.replyTo !== undefined
      ? [mailboxHeader('Reply-To', [{ address: content.replyTo }])]
      : []),
    ...(decoration.headerLines ?? []),
  ];
  const added = lines.map((line) => `${line}\r\n`).join('');
  const finished = await finishRawMail({ source: submitted, added, changes }, turn);
  const { messageId, needsSmtpUtf8, asciiHead, isEightBit } = finished;
  const raw =
    finished.raw === undefined
      ? Buffer.concat([Buffer.from(added, 'latin1'), submitted])
      : toBuffer(finished.raw);
  const ascii =
    asciiHead === undefined
      ? undefined
      : Buffer.concat([Buffer.from(asciiHead, 'latin1'), raw.subarray(findHeadEnd(raw))]);
  return {
    mail: {
      raw,
      messageId,
      needsSmtpUtf8,
      composeAscii: ascii && (() => ascii),
      ...(isEightBit && {
        composeSevenBit: async () => toBuffer(await encodeRawMail({ source: ascii ?? raw }, turn)),
      }),
    },
    notes: [],
  };
}
