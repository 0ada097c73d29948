import { accountTagBytes } from './account-tag.ts';
import type { EventKind } from './event-kinds.ts';
import { contentMemberKinds, resentMembers, type StoredContent } from './message-content.ts';
import { scheduledClassOffset } from './scheduled-class.ts';

/**
 * SQL fragments for `message.content`. Arguments are trusted SQL, such as the alias of a `message` row, and never input.
 */

/** The To address; null once the content is erased. */
export function toAddress(message: string): string {
  return `${message}.content ->> 'to'`;
}

/** The tag of the account with this ID, as in the index `account_tag`. IDs have no backslash, so the cast returns their bytes. */
export function accountTagSql(accountId: string): string {
  return `substr(sha256(${accountId}::bytea), 1, ${accountTagBytes})`;
}

/** The accounts with a tag, given in hexadecimal, as a query with the column `id`; all of them if it is null. */
export function accountsWithTag(tag: string): string {
  return `select id from account where ${tag} is not null and ${accountTagSql('id')} = decode(${tag}, 'hex')
    union all select id from account where ${tag} is null`;
}

/** True if the message has a reply address and its texts aren't erased. */
export function receivesReplies(message: string): string {
  return `coalesce(${message}.content ->> 'receiveReplies' = 'true', false)`;
}

/** The domain of the To address, in lower case. */
export function toDomain(message: string): string {
  return domainOfAddress(toAddress(message));
}

/** The domain of an address, in lower case. */
export function domainOfAddress(address: string): string {
  return `split_part(lower(${address}), '@', -1)`;
}

/** The domain of the address for a recipient number, in lower case. */
export function recipientDomain(message: string, recipient: string): string {
  return domainOfAddress(recipientAddress(message, recipient));
}

/** True if To is the only recipient, besides the account's own copy. */
export function hasNoCc(message: string): string {
  return `${message}.content -> 'cc' is null`;
}

/** True if To is the only recipient, the account's own copy included. */
export function hasOneRecipient(message: string): string {
  return `(${hasNoCc(message)} and ${archiveCopyAddress(message)} is null)`;
}

/** The Cc addresses as rows for `from`: one unnamed column, in the order of recipient numbers, which start at 1. */
export function ccAddresses(message: string): string {
  return `json_array_elements_text(${message}.content -> 'cc')`;
}

/** Where the account's own copy goes; null: nowhere. */
export function archiveCopyAddress(message: string): string {
  return `${message}.content ->> 'archive'`;
}

/** The recipient number of that copy. */
export function archiveRecipient(message: string): string {
  return `(1 + coalesce(json_array_length(${message}.content -> 'cc'), 0))`;
}

/** The Cc addresses skipped because they are suppressed, as rows for `from`. */
export function suppressedCcAddresses(message: string): string {
  return `json_array_elements_text(${message}.content -> 'suppressedCc')`;
}

/** The address for a recipient number; To if the number is null. */
export function recipientAddress(message: string, recipient: string): string {
  return `case when coalesce(${recipient}, 0) = 0 then ${toAddress(message)}
    else coalesce(${message}.content -> 'cc' ->> (${recipient} - 1), ${archiveCopyAddress(message)}) end`;
}

/**
 * Several members of the content as a row for `from`, which parses the content only once. `to` is text, the others are JSON.
 */
export function contentMembers(
  message: string,
  alias: string,
  names: readonly (keyof StoredContent)[],
): string {
  const columns = names.map((name) => `"${name}" ${name === 'to' ? 'text' : 'json'}`);
  return `json_to_record(${message}.content) as ${alias} (${columns.join(', ')})`;
}

/** The trace context of its acceptance, as JSON; null if that wasn't traced. */
export function traceContext(message: string): string {
  return `${message}.content -> 'trace'`;
}

/** The content with these members of `values` set. @param values jsonb */
export function withValues(message: string, values: string): string {
  return `(${message}.content::jsonb || jsonb_build_object('values', (${message}.content::jsonb -> 'values') || ${values}))::json`;
}

/** The content with addresses only: no values and no texts from the request, but the names of what it had. */
export function withoutTexts(message: string): string {
  const texts = Object.entries(contentMemberKinds)
    .filter(([, kind]) => kind === 'text')
    .map(([name]) => ` - '${name}'`);
  const names = resentMembers.map((name) => `'${name}'`).join(', ');
  const erased = `(select jsonb_build_object('erased', jsonb_agg(key order by key)) from json_each(${message}.content)
    where key in (${names}) and value::text <> '{}' having count(*) > 0)`;
  return `((${message}.content::jsonb${texts.join('')}) || '{"values":{}}' || coalesce(${erased}, '{}'))::json`;
}

/** What a person has paused that keeps a queued delivery waiting, one of `pausedScopes`; null if nothing has been. */
export function pausedScopeOf(entry: string, message: string): string {
  const paused = (destination: string) => `exists (
    select from delivery_pause p where p.account_id = ${entry}.account_id and p.destination = ${destination})`;
  return `case when ${entry}.paused then 'message' when ${paused("'*'")} then 'account'
    when ${paused(recipientDomain(message, `${entry}.recipient`))} then 'destination' end`;
}

/** Whether a worker holds the lease of a queued delivery. Its end is `due_at`, when another worker takes over. */
export function isLeased(entry: string, now: string): string {
  return `(${entry}.lease_owner is not null and ${entry}.due_at > ${now})`;
}

/**
 * The assignments that make a queued delivery wait until a time, unless a worker holds its lease. They end an expired lease, because
 * `due_at` would otherwise become its end; the next claim still sees by `stage` what was being sent.
 */
export function waitUntil(
  time: string,
  entry: string,
  now: string,
  leased = isLeased(entry, now),
): string {
  return `due_at = case when ${leased} then ${entry}.due_at else ${time} end,
    lease_owner = case when ${leased} then ${entry}.lease_owner end`;
}

/** The assignments that cancel a queued delivery `q`, unless a worker holds its lease: the next claim ends it. */
export function cancelDelivery(now: string): string {
  return `canceled = true, paused = false, held = false, reason = 'canceled manually', ${waitUntil(now, 'q', now)}`;
}

/** The same because something of it was erased. Only a final dot that may be on its way is waited for. */
export function cancelErased(what: string): string {
  const leased = `(${isLeased('q', 'now()')} and q.stage = 'dot')`;
  return `canceled = true, paused = false, held = false, reason = 'its ${what} has been erased',
    ${waitUntil('now()', 'q', 'now()', leased)}`;
}

/** The lowest UUIDv7 of a time (RFC 9562 section 5.7). */
export function lowestIdAt(time: string): string {
  return `(lpad(to_hex(floor(extract(epoch from ${time}) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid`;
}

/** When delivery could start: the send time of a scheduled message, else when it was accepted. */
export function startOf(message: string, retentionDays: string): string {
  return `coalesce(case when ${retentionDays} > ${scheduledClassOffset}
    then (${message}.content ->> 'sendAt')::timestamptz end, ${message}.accepted_at)`;
}

/** The attributes as rows for `from`, with the columns key and value. */
export function attributeRows(message: string): string {
  return `json_each_text(${message}.content -> 'attributes')`;
}

export function hasAttributes(message: string): string {
  return `${message}.content -> 'attributes' is not null`;
}

/** `message_attribute.hash` of an attribute. @param attribute text `name=value` */
export function attributeHash(attribute: string): string {
  return `substr(sha256(convert_to(${attribute}, 'UTF8')), 1, 16)`;
}

/** The bit of an open or click in `message.engaged`: by its kind, and whether a person or a machine caused it. */
export function engagementBit(event: string): string {
  return `(case ${event}.kind when 'opened' then 1 else 4 end
    * case ${event}.detail ->> 'class' when 'person' then 1 else 2 end)`;
}

/** Kinds as literals for `in (…)`, so that the planner can use a partial index that names them. */
export function kindList(kinds: readonly EventKind[]): string {
  return kinds.map((kind) => `'${kind}'`).join(', ');
}
