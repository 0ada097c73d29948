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

/** Messages of an account, newest first; one row for each recipient that fits, at most `limit` messages. */
export async function findMessages(
  kysely: Database['kysely'],
  accountId: AccountId,
  filter: MessageFilter,
): Promise<FoundMessage[]> {
  const conditions = [
    sql`account_id = ${accountId}`,
    ...is('message_id', filter.messageId),
    ...is('external_id', filter.externalId),
    ...is('address', filter.address?.toLowerCase()),
    ...is('tag', filter.tag),
    ...is('template_id', filter.templateId),
    ...is('state', filter.state),
    ...(filter.from === undefined ? [] : [sql`message_id >= ${lowestId(filter.from)}`]),
    ...(filter.until === undefined ? [] : [sql`message_id < ${lowestId(filter.until)}`]),
    ...(filter.before === undefined ? [] : [sql`message_id < ${filter.before}`]),
  ];
  // A message has at most 6 recipients; the page ends with a whole message.
  const { rows } = await sql<Omit<FoundMessage, 'acceptedAt'>>`
    select message_id as "messageId", recipient, address, state, template_id as "templateId", tag,
      external_id as "externalId"
    from message_search where ${sql.join(conditions, sql` and `)}
    order by message_id desc, recipient limit ${filter.limit * 6}`.execute(kysely);
  const ids = new Set<string>();
  const page: FoundMessage[] = [];
  for (const row of rows) {
    ids.add(row.messageId);
    if (ids.size > filter.limit) break;
    page.push({ ...row, acceptedAt: timeOf(row.messageId) });
  }
  return page;
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
