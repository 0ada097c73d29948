import type { EmailAddress } from '../foundation/email-address.ts';
import { encodeWords } from './encoded-words.ts';
import { oneLine } from './render-line.ts';

// RFC 5322 §2.1.1: lines should have at most 78 characters, and must have at most 998.
const MAX_LINE = 78;
/** A word that is longer than this cannot be folded well, and is encoded instead. */
const MAX_BARE_WORD = 60;
const PRINTABLE = /^[ -~]*$/;
/** RFC 5322 §3.2.3: words of atext, with single spaces between them. */
const ATOMS = /^[\w!#$%&'*+/=?^`{|}~-]+(?: [\w!#$%&'*+/=?^`{|}~-]+)*$/;

/** A mailbox of a header. */
export interface HeaderMailbox {
  readonly address: EmailAddress;
  readonly displayName?: string | undefined;
  /**
   * True where the address cannot stand in this header: it is named in the form of RFC 6857 section 3.1.8, an empty group
   * (RFC 5322 section 3.4) whose name tells it.
   */
  readonly removed?: boolean;
}

/** `Name: text`, for text that people read: folded, encoded where it is not plain ASCII. No CRLF at its end. */
export function textHeader(name: string, text: string): string {
  const value = oneLine(text);
  if (isPlain(value)) return fold(`${name}: ${value}`);
  return `${name}: ${encodeWords(value, name.length + 2)}`;
}

/** `Name: mailbox, mailbox`, one line each where they do not fit together. */
export function mailboxHeader(name: string, mailboxes: readonly HeaderMailbox[]): string {
  let header = `${name}:`;
  let column = header.length;
  mailboxes.forEach((mailbox, index) => {
    const comma = index < mailboxes.length - 1 ? 1 : 0;
    let written = writeMailbox(mailbox, column + 1);
    if (column + 1 + lineLength(written) + comma > MAX_LINE && column > 1 && index > 0) {
      header += '\r\n';
      column = 0;
      written = writeMailbox(mailbox, 1);
    }
    header += ` ${written}${comma === 1 ? ',' : ''}`;
    const lineStart = header.lastIndexOf('\n') + 1;
    column = header.length - lineStart;
  });
  return header;
}

const removedPrefix = 'Internationalized Address ';

function writeMailbox(
  { address, displayName = '', removed }: HeaderMailbox,
  column: number,
): string {
  if (removed === true)
    return `${removedPrefix}${encodeWords(address, column + removedPrefix.length)}\r\n Removed:;`;
  const name = oneLine(displayName);
  if (name === '') return address;
  const phrase = writePhrase(name, column);
  const lastLine = phrase.length - (phrase.lastIndexOf('\n') + 1);
  const start = phrase.includes('\n') ? lastLine : column + lastLine;
  const space = start + address.length + 4 > MAX_LINE ? '\r\n ' : ' ';
  return `${phrase}${space}<${address}>`;
}

/** A display name: atoms, a quoted string (RFC 5322 §3.2.4), or encoded words. */
function writePhrase(name: string, column: number): string {
  if (!isPlain(name) || name.length > MAX_BARE_WORD) return encodeWords(name, column);
  if (ATOMS.test(name)) return name;
  return `"${name.replace(/["\\]/g, '\\$&')}"`;
}

/** ASCII that every reader reads as it is: nothing like an encoded word, no spaces in a row, no word too long to fold. */
function isPlain(text: string): boolean {
  if (!PRINTABLE.test(text) || text.includes('=?') || text.includes('  ')) return false;
  return (
    text.length <= MAX_BARE_WORD || text.split(' ').every((word) => word.length <= MAX_BARE_WORD)
  );
}

/** RFC 5322 §2.2.3: a line break before white space; reading it back removes just the break. */
function fold(header: string): string {
  if (header.length <= MAX_LINE) return header;
  let folded = '';
  let line = '';
  for (const word of header.match(/ ?[^ ]+/g) ?? []) {
    if (line.length + word.length > MAX_LINE && line !== '') {
      folded += `${line}\r\n`;
      line = '';
    }
    line += word;
  }
  return folded + line;
}

function lineLength(text: string): number {
  const end = text.indexOf('\r\n');
  return end === -1 ? text.length : end;
}
