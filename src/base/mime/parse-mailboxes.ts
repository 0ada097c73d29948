import { decodeWords } from './decode.ts';

/** An address and its decoded name, as a header writes them. */
export interface WrittenMailbox {
  readonly address: string;
  /** Empty if there is none. */
  readonly name: string;
}

/** Characters of a field that are read. */
const maxLength = 256 * 1_024;

/**
 * The mailboxes of an address list, with those of its groups (RFC 5322 section 3.4), in one pass. Lenient: what has no
 * address is left out.
 */
export function parseMailboxes(value: string, maxMailboxes: number): WrittenMailbox[] {
  const mailboxes: WrittenMailbox[] = [];
  let words = '';
  let comment = '';
  let address: string | undefined;
  let inAddress = false;
  let quoted = false;
  let comments = 0;
  const end = (): void => {
    const found = address?.trim() ?? (words.includes('@') ? words.trim() : '');
    const name = address === undefined ? comment : words.trim() || comment;
    if (found !== '') mailboxes.push({ address: found, name: toName(name) });
    words = '';
    comment = '';
    address = undefined;
    inAddress = false;
  };
  const add = (text: string): void => {
    if (comments > 0) comment += text;
    else if (inAddress) address += text;
    else words += text;
  };
  const length = Math.min(value.length, maxLength);
  for (let at = 0; at < length && mailboxes.length < maxMailboxes; at += 1) {
    const character = value.charAt(at);
    if (character === '\\' && (quoted || comments > 0)) {
      at += 1;
      add(value.charAt(at));
    } else if (comments > 0) {
      if (character === '(') comments += 1;
      else if (character === ')') comments -= 1;
      if (comments > 0) add(character);
    } else if (character === '"') {
      quoted = !quoted;
      // A quoted local part keeps its quotes.
      if (inAddress) add(character);
    } else if (quoted) add(character);
    else if (character === '(') comments = 1;
    else if (character === '<' && address === undefined) {
      address = '';
      inAddress = true;
    } else if (character === '>') inAddress = false;
    else if (character === ',' || character === ';') {
      if (inAddress) add(character);
      else end();
    } else if (character === ':' && !inAddress) words = '';
    else add(character);
  }
  if (mailboxes.length < maxMailboxes) end();
  return mailboxes;
}

function toName(written: string): string {
  return decodeWords(written).replace(/\s+/g, ' ').trim();
}
