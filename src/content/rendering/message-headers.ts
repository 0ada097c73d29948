import type { EmailAddress } from '../../base/values/email-address.ts';
import { encodeWords } from './encoded-words.ts';
import { oneLine } from './render-subject.ts';

// RFC 5322 section 2.1.1: lines should have at most 78 characters and must have at most 998.
const MAX_LINE = 78;
/** A longer word can't be folded well, so it is encoded instead. */
const MAX_BARE_WORD = 60;
const PRINTABLE = /^[ -~]*$/;
/** RFC 5322 section 3.2.3: words of atext, separated by single spaces. */
const ATOMS = /^[\w!#$%&'*+/=?^`{|}~-]+(?: [\w!#$%&'*+/=?^`{|}~-]+)*$/;

/** A mailbox in a header. */
export interface HeaderMailbox {
  readonly address: EmailAddress;
  readonly displayName?: string | undefined;
  /**
   * True if the header can't contain the address: it is then written in the form of RFC 6857 section 3.1.8, an empty
   * group (RFC 5322 section 3.4) with the address in its name.
   */
  readonly removed?: boolean;
}

/** `Name: text` for human-readable text: folded, and encoded unless it is plain ASCII. Without the final CRLF. */
export function textHeader(name: string, text: string): string {
  const value = oneLine(text);
  if (isPlain(value)) return fold(`${name}: ${value}`);
  return `${name}: ${encodeWords(value, name.length + 2)}`;
}

/** A date (RFC 5322 section 3.3), always in UTC. */
export function mailDate(date: Date): string {
  return date.toUTCString().replace('GMT', '+0000');
}

/** `Name: mailbox, mailbox`, with a line break wherever the next mailbox doesn't fit. */
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
    const next = ` ${written}${comma === 1 ? ',' : ''}`;
    header += next;
    const lineStart = next.lastIndexOf('\n') + 1;
    column = lineStart === 0 ? column + next.length : next.length - lineStart;
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

/** A display name: atoms, a quoted string (RFC 5322 section 3.2.4), or encoded words. */
function writePhrase(name: string, column: number): string {
  if (!isPlain(name) || name.length > MAX_BARE_WORD) return encodeWords(name, column);
  if (ATOMS.test(name)) return name;
  return `"${name.replace(/["\\]/g, '\\$&')}"`;
}

/** ASCII that needs no encoding: nothing like an encoded word, no consecutive spaces, no word too long to fold. */
function isPlain(text: string): boolean {
  if (!PRINTABLE.test(text) || text.includes('=?') || text.includes('  ')) return false;
  return (
    text.length <= MAX_BARE_WORD || text.split(' ').every((word) => word.length <= MAX_BARE_WORD)
  );
}

/** RFC 5322 section 2.2.3: a line break before white space; unfolding removes only the break. */
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
