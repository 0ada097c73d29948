import { sql } from 'kysely';
import { accountTopic } from '../../accounts/account/account-store.ts';
import { announceChange } from '../../base/database/announce.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { firstRow, run } from '../../base/database/statements.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { partitionedTables } from '../../content/message/message-partitions-store.ts';
import { waitForAllCursors } from '../../outcomes/feed/feed-cursor-store.ts';

/** A finished message that never existed. */
export interface DemoMessage {
  readonly id: string;
  readonly templateId: string;
  readonly state: string;
  readonly transactional: boolean;
  readonly tracked: boolean;
  readonly externalId: string | null;
  readonly tag: string;
  readonly acceptedAt: Date;
  readonly stateAt: Date;
  readonly content: object;
}

/** Something that happened to it. */
export interface DemoEvent {
  readonly messageId: string;
  readonly id: string;
  readonly at: Date;
  readonly kind: string;
  readonly recipient: number | null;
  readonly detail: object;
}

/** The demo account's state: undefined if there is no such account. */
export async function readDemoAccount(
  kysely: Kysely,
  accountId: AccountId,
): Promise<{ readonly demo: boolean } | undefined> {
  return kysely.selectFrom('account').select('demo').where('id', '=', accountId).executeTakeFirst();
}

/** Marks an account as made up, and notifies all nodes at commit. */
export async function markDemoAccount(transaction: Kysely, accountId: AccountId): Promise<void> {
  await transaction
    .updateTable('account')
    .set({ demo: true })
    .where('id', '=', accountId)
    .execute();
  await announceChange(transaction, accountTopic, accountId);
}

/** Inserts the rows that accepting and delivering leave. Nothing is queued, so nothing of it is ever sent. */
export async function writeDemoMessages(
  transaction: Kysely,
  accountId: AccountId,
  messages: readonly DemoMessage[],
  events: readonly DemoEvent[],
): Promise<void> {
  await run(transaction)`
    insert into message (account_id, id, retention_days, template_id, template_version, state, transactional, track_opens,
      track_clicks, deliver_when_delayed, external_id, tag, client_id, accepted_at, state_at, content)
    select ${accountId}, m.id, a.retention_days, m."templateId", 1, m.state, m.transactional, m.tracked, m.tracked,
      m.state <> 'expired', m."externalId", m.tag, 'demo', m."acceptedAt", m."stateAt", m.content
    from account a, json_to_recordset(${JSON.stringify(messages)}::json) as m (id uuid, "templateId" text, state text,
      transactional boolean, tracked boolean, "externalId" text, tag text, "acceptedAt" timestamptz, "stateAt" timestamptz,
      content json)
    where a.id = ${accountId} and a.demo
    order by m.id`;
  await run(transaction)`
    insert into message_event (account_id, message_id, retention_days, id, at, kind, recipient, detail)
    select ${accountId}, e."messageId", a.retention_days, e.id, e.at, e.kind, e.recipient, e.detail
    from account a, json_to_recordset(${JSON.stringify(events)}::json) as e ("messageId" uuid, id uuid, at timestamptz,
      kind text, recipient smallint, detail json)
    where a.id = ${accountId} and a.demo
    order by e.at`;
}

/** How many of the account's messages are found by search and counted by reports. */
export async function countProcessed(kysely: Kysely, accountId: AccountId): Promise<number> {
  const row = await firstRow<{ processed: number }>(kysely)`
    select least(
      (select count(*) from message_search where account_id = ${accountId} and recipient = 0),
      (select coalesce(sum(accepted), 0) from report_total where account_id = ${accountId}))::int as processed`;
  return row?.processed ?? 0;
}

/** Removes a demo account with everything that belongs to it, and notifies all nodes at commit. */
export async function removeDemoAccount(transaction: Kysely, accountId: AccountId): Promise<void> {
  // The followers wait, so they can't add rows for messages that are being removed.
  await waitForAllCursors(transaction, accountId);
  const tables = ['queued_delivery', 'scheduled_message', 'idempotency_key', ...partitionedTables];
  for (const table of tables.toReversed())
    await run(transaction)`delete from ${sql.table(table)} where account_id = ${accountId}`;
  // The other tables refer to it, and follow.
  await run(transaction)`delete from account where id = ${accountId} and demo`;
  await announceChange(transaction, accountTopic, accountId);
}
