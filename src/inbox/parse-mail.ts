import libmime from 'libmime';
import type { HeaderLines } from 'mailparser';
import { decodeWords } from '../foundation/decode-words.ts';
import type { MailContent, MailHeaderField } from './inbox-message.ts';

/** The content of a message that can't be parsed. */
const emptyContent: MailContent = { headers: [], subject: '', html: null, text: null };

/** Time limit for parsing; a message that exceeds it is stored unparsed. */
const parseTimeoutMs = 10_000;

/**
 * Parses a message (RFC 5322, MIME): headers and the text and HTML parts as sent, neither derived from the other.
 * Never throws: unreadable parts are missing.
 */
export async function parseMail(source: Buffer): Promise<MailContent> {
  // Imported on first use, so that startup is faster.
  const { simpleParser } = await import('mailparser');
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), parseTimeoutMs);
  });
  const parsing = simpleParser(source, {
    skipHtmlToText: true,
    skipTextToHtml: true,
    skipImageLinks: true,
    keepCidLinks: true,
  });
  try {
    const mail = await Promise.race([parsing, timeout]);
    if (mail === undefined) return emptyContent;
    const headers = decodeHeaders(mail.headerLines ?? []);
    return {
      headers,
      subject: headers.find(([name]) => name.toLowerCase() === 'subject')?.[1] ?? '',
      html: typeof mail.html === 'string' ? storable(mail.html) : null,
      text: typeof mail.text === 'string' && mail.text !== '' ? storable(mail.text) : null,
    };
  } catch {
    return emptyContent;
  } finally {
    clearTimeout(timer);
  }
}

/** Header fields in order, unfolded (RFC 5322 section 2.2.3), with encoded words decoded (RFC 2047). */
function decodeHeaders(lines: HeaderLines): MailHeaderField[] {
  return lines.map(({ key, line }) => {
    // Lines have one character per byte; fields may contain raw UTF-8 (RFC 6532).
    const value = Buffer.from(libmime.decodeHeader(line).value, 'latin1').toString('utf8');
    const name = line.slice(0, line.indexOf(':')).trim();
    return [storable(name === '' ? key : name), storable(decodeWords(value))];
  });
}

/** Removes what PostgreSQL can't store in text: NUL and unpaired surrogates. */
function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}
