import type { FaultDetail } from '../../base/values/errors.ts';
import { readMailboxField } from '../../sending/smtp-submission/template-submission.ts';
import type { Mailbox } from '../../sending/submission/send-content.ts';

/** Reads `Name <address>` or an address alone; adds a problem to `details` if it is neither. */
export function readMailbox(text: string, field: string, details: FaultDetail[]): Mailbox {
  const mailbox = readMailboxField(text.trim());
  if (mailbox !== undefined) return mailbox;
  details.push({ field, reason: 'is not an address such as Shop <shop@example.com>' });
  return { address: text as Mailbox['address'] };
}

/** Reads one such text, or a list of them. An empty text is what programs send for none. */
export function readMailboxes(
  given: string | readonly string[] | undefined,
  field: string,
  details: FaultDetail[],
): Mailbox[] {
  if (given === undefined || given === '') return [];
  if (typeof given === 'string') return [readMailbox(given, field, details)];
  return given.map((text, index) => readMailbox(text, `${field}[${index}]`, details));
}

/** Splits mailboxes at the commas that aren't quoted. */
export function splitMailboxes(text: string, field: string, details: FaultDetail[]): string[] {
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
  if (isQuoted) details.push({ field, reason: 'has a quote without an end' });
  return parts.filter((part) => part !== '');
}

/** As the provider's APIs show it. */
export function writeMailbox(address: string, name: string | undefined): string {
  return name === undefined || name === '' ? address : `${name} <${address}>`;
}
