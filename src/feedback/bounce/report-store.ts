import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../../foundation/database/open-database.ts';
import { storableJson } from '../../foundation/database/storable-json.ts';
import type { MessageId } from '../../foundation/ids.ts';

/** Something that happened to a message after it was handed over, told from outside. */
export interface OutsideEvent {
  readonly messageId: MessageId;
  /** 0 is To, 1 and up are Cc; an address is looked up among the message's recipients. */
  readonly recipient: number | { readonly address: string };
  readonly kind: 'bounced' | 'complained' | 'delayed' | 'unsubscribed';
  readonly detail: Readonly<Record<string, unknown>>;
  /** Names the report, so that hearing of it again changes nothing. */
  readonly report: string;
}

/**
 * Writes what was told about messages of this installation.
 * @param offset milliseconds added to the database's clock
 * @returns how many were new events of messages that are kept
 */
export async function writeOutsideEvents(
  kysely: Database['kysely'],
  events: readonly OutsideEvent[],
  offset: number,
): Promise<number> {
  let written = 0;
  for (let from = 0; from < events.length; from += mostRows)
    written += await writeSome(kysely, events.slice(from, from + mostRows), offset);
  return written;
}

/** Events of one statement: a relay may tell of thousands in one request. */
const mostRows = 500;

async function writeSome(
  kysely: Database['kysely'],
  events: readonly OutsideEvent[],
  offset: number,
): Promise<number> {
  const rows = events.map((event) => ({
    message_id: event.messageId,
    recipient: typeof event.recipient === 'number' ? event.recipient : null,
    address: typeof event.recipient === 'number' ? null : event.recipient.address.toLowerCase(),
    id: eventId(event),
    kind: event.kind,
    detail: event.detail,
  }));
  // A report names a message by its id alone; it is looked for in each account by itself.
  const { numAffectedRows } = await sql`
    insert into message_event (account_id, message_id, retention_days, id, at, kind, recipient, detail)
    select distinct on (m.account_id, m.id, i.id) m.account_id, m.id, m.retention_days, i.id,
      now() + ${offset}::float8 * interval '1 ms', i.kind,
      coalesce(i.recipient, case when m.content -> 'cc' is null then 0 else coalesce((
        select c.place::smallint from json_array_elements_text(m.content -> 'cc') with ordinality as c (address, place)
        where lower(c.address) = i.address limit 1), 0) end),
      i.detail
    from json_to_recordset(${storableJson(JSON.stringify(rows))}::json)
      as i (message_id uuid, recipient smallint, address text, id uuid, kind text, detail json)
    cross join account a
    cross join lateral (
      select account_id, id, retention_days, content from message
      where account_id = a.id and id = i.message_id limit 1) as m
    on conflict do nothing`.execute(kysely);
  return Number(numAffectedRows ?? 0n);
}

/**
 * How many events of the kind of `event` its message has.
 * @param most it counts no further
 */
export async function countOutsideEvents(
  kysely: Database['kysely'],
  { messageId, kind }: Pick<OutsideEvent, 'messageId' | 'kind'>,
  most: number,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from account a cross join lateral (
      select from message_event where account_id = a.id and message_id = ${messageId} and kind = ${kind}
      limit ${most}) as e`.execute(kysely);
  return rows[0]?.count ?? 0;
}

/** The same report about the same message always makes the same id. */
function eventId(event: OutsideEvent): string {
  const recipient = typeof event.recipient === 'number' ? event.recipient : event.recipient.address;
  const name = JSON.stringify([event.messageId, recipient, event.kind, event.report]);
  const hex = createHash('sha256').update(name).digest('hex');
  // A UUID of version 8 (RFC 9562 section 5.8).
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
