import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, MessageId } from '../foundation/ids.ts';

/** What messages are looked for by; members that are there must all fit. */
export interface MessageFilter {
  readonly messageId?: MessageId | undefined;
  readonly externalId?: string | undefined;
  /** Of To or a Cc, in any case. */
  readonly address?: string | undefined;
  readonly tag?: string | undefined;
  readonly templateId?: string | undefined;
  /** The last outcome of a recipient. */
  readonly state?: string | undefined;
  readonly from?: Date | undefined;
  readonly until?: Date | undefined;
  /** The last message of the page before. */
  readonly before?: MessageId | undefined;
  readonly limit: number;
}

/** A recipient of a message that fits. */
export interface FoundMessage {
  readonly messageId: MessageId;
  readonly recipient: number;
  /** Null: erased. */
  readonly address: string | null;
  readonly state: string;
  readonly templateId: string;
  readonly tag: string | null;
  readonly externalId: string | null;
  readonly acceptedAt: Date;
}

/** A page of found messages. */
export interface FoundPage {
  /** Newest first; one row for each recipient that fits, at most `limit` messages. */
  readonly found: readonly FoundMessage[];
  /** Where to look on where the look ended before the page was full; undefined otherwise. */
  readonly next: MessageId | undefined;
}

const mostRecipients = 6;

/**
 * Messages of an account. One thing that must fit is read from its index in order, the others are checked on what it gives.
 * @param mostScanned rows looked at for one page then, so that what hardly ever comes together costs no more
 */
export async function findMessages(
  kysely: Database['kysely'],
  accountId: AccountId,
  filter: MessageFilter,
  mostScanned = 5_000,
): Promise<FoundPage> {
  const [first, ...others] = conditionsOf(filter);
  const range = sql.join(
    [
      sql`account_id = ${accountId}`,
      ...(first === undefined ? [] : [first]),
      ...is('message_id', filter.messageId),
      ...(filter.from === undefined ? [] : [sql`message_id >= ${lowestId(filter.from)}`]),
      ...(filter.until === undefined ? [] : [sql`message_id < ${lowestId(filter.until)}`]),
      ...(filter.before === undefined ? [] : [sql`message_id < ${filter.before}`]),
    ],
    sql` and `,
  );
  // A message has at most 6 recipients; the page ends with a whole message.
  const rowLimit = filter.limit * mostRecipients;
  const scanned = others.length === 0 ? rowLimit : Math.max(rowLimit, mostScanned);
  const { rows } = await sql<Omit<FoundMessage, 'acceptedAt'>>`
    select message_id as "messageId", recipient, address, state, template_id as "templateId", tag,
      external_id as "externalId"
    from (
      select * from message_search where ${range} order by message_id desc, recipient limit ${scanned}) as scanned
    where ${sql.join([sql`true`, ...others], sql` and `)}
    order by message_id desc, recipient limit ${rowLimit}`.execute(kysely);
  const found = firstMessages(rows, filter.limit);
  if (others.length === 0 || rows.length === rowLimit || found.length < rows.length)
    return { found, next: undefined };
  // What stands so many rows before the end of the look was looked at with all its recipients.
  const end = await sql<{ id: MessageId }>`
    select message_id as id from message_search where ${range}
    order by message_id desc, recipient offset ${scanned - mostRecipients} limit 1`.execute(kysely);
  const next = end.rows[0]?.id;
  return { found: next === undefined ? found : found.filter((row) => row.messageId >= next), next };
}

function firstMessages(
  rows: readonly Omit<FoundMessage, 'acceptedAt'>[],
  limit: number,
): FoundMessage[] {
  const ids = new Set<string>();
  const page: FoundMessage[] = [];
  for (const row of rows) {
    ids.add(row.messageId);
    if (ids.size > limit) break;
    page.push({ ...row, acceptedAt: timeOf(row.messageId) });
  }
  return page;
}

/** What must fit, the rarest first as far as that can be known. */
function conditionsOf(filter: MessageFilter) {
  const usual = filter.state === 'delivered';
  return [
    ...is('external_id', filter.externalId),
    ...is('address', filter.address?.toLowerCase()),
    ...(usual ? [] : is('state', filter.state)),
    ...is('tag', filter.tag),
    ...is('template_id', filter.templateId),
    ...(usual ? is('state', filter.state) : []),
  ];
}

function is(column: string, value: string | undefined) {
  return value === undefined ? [] : [sql`${sql.ref(column)} = ${value}`];
}

/** The lowest UUID v7 of a time (RFC 9562 section 5.7). */
function lowestId(time: Date): string {
  const hex = Math.max(0, time.getTime()).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

function timeOf(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}
