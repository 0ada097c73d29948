import { decodeWords } from '../../base/mime/decode.ts';
import type { MailFields } from '../../base/mime/header-fields.ts';
import { mailJob } from '../../base/mime/mail-threads.ts';
import { readEntity } from '../../base/mime/mime-entity.ts';
import { parseMailboxes } from '../../base/mime/parse-mailboxes.ts';
import type { EmailAddress } from '../../base/values/email-address.ts';
import {
  encodeForSevenBits,
  hasLongLines,
  isEightBit,
} from '../../content/rendering/encode-for-seven-bits.ts';
import { mailboxHeader, textHeader } from '../../content/rendering/message-headers.ts';
import { changeHtmlParts, type HtmlChange } from '../../content/rendering/track-html-parts.ts';

/** A message that was submitted complete. */
export interface RawMail {
  readonly source: Buffer;
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
  /** The head without a character beyond ASCII; undefined if it has none anyway, or needs them. */
  readonly asciiHead: string | undefined;
  /** It has to be encoded for servers without 8BITMIME. */
  readonly isEightBit: boolean;
}

const nonAscii = /[\x80-\xff]/;
/** Fields of mailboxes (RFC 5322 section 3.6), whose names can be encoded. */
const mailboxFields = /^(?:resent-)?(?:from|sender|reply-to|to|cc|bcc)$/;
/** Fields whose characters mean what they are: nothing in them can be encoded (RFC 2047 section 5). */
const literalFields =
  /^(?:(?:resent-)?(?:date|message-id)|in-reply-to|references|return-path|received|mime-version|content-.*|list-.*|dkim-signature|auto-submitted)$/;
/** More than a message can have recipients. */
const maxMailboxes = 10_000;

export function finishRawMailJob({ source, added, changes }: RawMail): FinishedMail {
  const changed = changes === undefined ? source : changeHtmlParts(source, changes);
  const { body, fields } = readEntity(changed);
  const needsSmtpUtf8 = fields.all.some(({ raw }) => nonAscii.test(raw));
  const whole = () => Buffer.concat([Buffer.from(added, 'latin1'), changed]);
  // RFC 5322 section 2.1.1: servers break longer lines, which would break the signature.
  const isLong = hasLongLines(body);
  const encoded = isLong ? encodeForSevenBits(whole()) : undefined;
  const asciiHead = (): string | undefined =>
    encoded === undefined ? encodeHead(added, fields) : encodeHead('', readEntity(encoded).fields);
  return {
    raw: encoded ?? (changed === source ? undefined : whole()),
    messageId: fields.get('message-id') ?? '',
    needsSmtpUtf8,
    asciiHead: needsSmtpUtf8 ? asciiHead() : undefined,
    isEightBit: !isLong && isEightBit(body),
  };
}

export const finishRawMail = mailJob(finishRawMailJob, import.meta.url);

export function encodeRawMailJob({ source }: { readonly source: Buffer }): Uint8Array {
  return encodeForSevenBits(source);
}

/** For servers without 8BITMIME. */
export const encodeRawMail = mailJob(encodeRawMailJob, import.meta.url);

/**
 * Writes subjects, names and other texts as encoded words (RFC 2047), as programs should that put UTF-8 into a header: most
 * servers lack SMTPUTF8 (RFC 6531), and would refuse the message.
 * @returns undefined if something else needs SMTPUTF8, such as an address
 */
function encodeHead(added: string, { all }: MailFields): string | undefined {
  let head = added;
  for (const { name, value, raw } of all) {
    const field = nonAscii.test(raw) ? encodeField(name, value, raw) : raw;
    if (field === undefined) return undefined;
    head += field;
  }
  return `${head}\r\n`;
}

function encodeField(name: string, value: string, raw: string): string | undefined {
  if (name === '' || literalFields.test(name)) return undefined;
  const written = raw.slice(0, name.length);
  if (!mailboxFields.test(name)) return `${textHeader(written, decodeWords(value))}\r\n`;
  // Groups would lose their names.
  const mailboxes = value.includes(';') ? [] : parseMailboxes(value, maxMailboxes);
  if (mailboxes.length === 0 || mailboxes.some(({ address }) => !/^[!-~]+$/.test(address)))
    return undefined;
  const named = mailboxes.map(({ address, name: displayName }) => ({
    address: address as EmailAddress,
    displayName,
  }));
  return `${mailboxHeader(written, named)}\r\n`;
}
