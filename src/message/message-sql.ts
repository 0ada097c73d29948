import type { EventKind } from './event-kinds.ts';
import { contentMemberKinds, type MessageContent } from './message-content.ts';

/**
 * What statements know of `message.content`, as text to put into them. Each is given the name of a row of `message`; none
 * holds anything but names of this program.
 */

/** The To address; null once the content is erased. */
export function toAddress(message: string): string {
  return `${message}.content ->> 'to'`;
}

export function fromAddress(message: string): string {
  return `${message}.content -> 'from' ->> 'address'`;
}

/** The domain of the To address, in lower case. */
export function toDomain(message: string): string {
  return domainOfAddress(toAddress(message));
}

/** The domain of an address, in lower case. */
export function domainOfAddress(address: string): string {
  return `split_part(lower(${address}), '@', -1)`;
}

export function hasNoCc(message: string): string {
  return `${message}.content -> 'cc' is null`;
}

/** Rows of the Cc addresses, as `from` has them: a column without a name, in the order in which recipients are counted from 1. */
export function ccAddresses(message: string): string {
  return `json_array_elements_text(${message}.content -> 'cc')`;
}

/** Rows of the Cc addresses that were left out, as they were suppressed. */
export function suppressedCcAddresses(message: string): string {
  return `json_array_elements_text(${message}.content -> 'suppressedCc')`;
}

/** The address of a recipient by its number; that of To where the number is null. */
export function recipientAddress(message: string, recipient: string): string {
  return `case when coalesce(${recipient}, 0) = 0 then ${toAddress(message)}
    else ${message}.content -> 'cc' ->> (${recipient} - 1) end`;
}

/**
 * Named members of the content as a row of `from`: the content is long, so it is parsed once where several are read. `to` is
 * a text, the others are JSON.
 */
export function contentMembers(
  message: string,
  alias: string,
  names: readonly (keyof MessageContent)[],
): string {
  const columns = names.map((name) => `"${name}" ${name === 'to' ? 'text' : 'json'}`);
  return `json_to_record(${message}.content) as ${alias} (${columns.join(', ')})`;
}

/** The content with these members of `values` set. @param values jsonb */
export function withValues(message: string, values: string): string {
  return `(${message}.content::jsonb || jsonb_build_object('values', (${message}.content::jsonb -> 'values') || ${values}))::json`;
}

/** The content with addresses alone: no values, no texts of the request. */
export function withoutTexts(message: string): string {
  const texts = Object.entries(contentMemberKinds)
    .filter(([, kind]) => kind === 'text')
    .map(([name]) => ` - '${name}'`);
  return `((${message}.content::jsonb${texts.join('')}) || '{"values":{}}')::json`;
}

/** Kinds as a list for `in (…)`: written into the statement, so that a partial index that names them serves it. */
export function kindList(kinds: readonly EventKind[]): string {
  return kinds.map((kind) => `'${kind}'`).join(', ');
}
