import { type EmailAddress, parseEmailAddress } from '../foundation/email-address.ts';
import { decodeWords } from '../foundation/mime/decode-words.ts';
import { hasControlCharacter } from '../submission/custom-headers.ts';

/** A mailbox of a header. */
export interface SubmittedMailbox {
  readonly address: EmailAddress;
  /** Decoded. */
  readonly name: string | undefined;
}

const maxLength = 2_000;
/**
 * RFC 5322 section 3.4: words, quoted or not, before an address in angle brackets. Comments (section 3.2.2) are read only without
 * what could begin another address; mail programs show them as part of the name.
 */
const withBrackets =
  /^((?:"(?:[^"\\]|\\.)*"|\([^"<>,;:()@\\]*\)|[^"<>,;:()@])*)<\s*([^<>\s]+)\s*>$/;
/** An address alone, or with its name in a comment, as older programs write it. */
const bare = /^([^\s<>,;:()"]+)(?:\s+\(([^()\\]*)\))?$/;

/**
 * Reads a field with exactly one mailbox. Strict, so that no mail program can read another address from it.
 * @returns undefined if it has none, several, or anything ambiguous
 */
export function readMailboxField(value: string): SubmittedMailbox | undefined {
  if (value.length > maxLength) return undefined;
  const [, words, inBrackets] = withBrackets.exec(value) ?? [];
  const [, alone, comment] = inBrackets === undefined ? (bare.exec(value) ?? []) : [];
  const parsed = parseEmailAddress(inBrackets ?? alone ?? '');
  if (!parsed.ok) return undefined;
  const name = readName(words ?? comment);
  // Encoded words can hide them (RFC 2047).
  if (name !== undefined && hasControlCharacter(name)) return undefined;
  return { address: parsed.address, name };
}

function readName(text: string | undefined): string | undefined {
  const unquoted = (text ?? '').replace(/"((?:[^"\\]|\\.)*)"/g, (_, quoted: string) =>
    quoted.replace(/\\(.)/g, '$1'),
  );
  const name = decodeWords(unquoted).replace(/\s+/g, ' ').trim();
  return name === '' ? undefined : name;
}
