import type { HeaderMailbox } from '../../content/rendering/message-headers.ts';
import { readMailboxField } from '../../sending/smtp-submission/template-submission.ts';
import type { Place } from './place.ts';

/** Reads `Name <address>` or an address alone; it's a problem if it is neither. */
export function readMailbox(text: string, place: Place): HeaderMailbox {
  const { address, name: displayName } = readMailboxField(text.trim()) ?? {};
  if (address !== undefined) return { address, displayName };
  place.refuse('is not an address such as Shop <shop@example.com>');
  return { address: text as HeaderMailbox['address'] };
}

/** Reads one such text, or a list of them. An empty text is what programs send for none. */
export function readMailboxes(given: string | readonly string[], place: Place): HeaderMailbox[] {
  if (given === '') return [];
  if (typeof given === 'string') return [readMailbox(given, place)];
  return given.map((text, index) => readMailbox(text, place.at(`[${index}]`)));
}

/** Splits mailboxes at the commas that aren't quoted. */
export function splitMailboxes(text: string, place: Place): string[] {
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at <= text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '\\' && isQuoted) at += 1;
    else if (character === '"') isQuoted = !isQuoted;
    else if (at === text.length || (character === ',' && !isQuoted)) {
      parts.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  if (isQuoted) place.refuse('has a quote without an end');
  return parts.filter((part) => part !== '');
}

/** As providers' APIs show it. */
export function writeMailbox({ address, name = '' }: { address: string; name?: string }): string {
  return name === '' ? address : `${name} <${address}>`;
}
