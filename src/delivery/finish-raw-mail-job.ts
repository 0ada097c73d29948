import { toBuffer } from '../foundation/mime/mail-threads.ts';
import { readEntity } from '../foundation/mime/mime-entity.ts';
import {
  encodeForSevenBits,
  hasLongLines,
  isEightBit,
} from '../rendering/encode-for-seven-bits.ts';
import { changeHtmlParts, type HtmlChange } from '../rendering/track-html-parts.ts';

/** A message that was submitted complete. */
export interface RawMail {
  readonly source: Uint8Array;
  /** Header lines that delivery puts before it. */
  readonly added: string;
  /** What tracking changes, if it was asked for. */
  readonly changes: readonly (readonly HtmlChange[])[] | undefined;
}

/** The message as it is sent. */
export interface FinishedMail {
  /** Undefined: the source after the lines that were added. */
  readonly raw: Uint8Array | undefined;
  readonly messageId: string;
  readonly needsSmtpUtf8: boolean;
  /** It has to be encoded for servers without 8BITMIME. */
  readonly isEightBit: boolean;
}

const nonAscii = /[\x80-\xff]/;

export function finishRawMailJob({ source, added, changes }: RawMail): FinishedMail {
  const submitted = toBuffer(source);
  const changed = changes === undefined ? submitted : changeHtmlParts(submitted, changes);
  const { body, fields } = readEntity(changed);
  const whole = () => Buffer.concat([Buffer.from(added, 'latin1'), changed]);
  // RFC 5322 section 2.1.1: servers break longer lines, which would break the signature.
  const isLong = hasLongLines(body);
  return {
    raw: isLong ? encodeForSevenBits(whole()) : changed === submitted ? undefined : whole(),
    messageId: fields.get('message-id') ?? '',
    needsSmtpUtf8: fields.all.some(({ raw }) => nonAscii.test(raw)),
    isEightBit: !isLong && isEightBit(body),
  };
}
