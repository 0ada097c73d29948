import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows } from '../../base/database/statements.ts';
import type { AccountId, MessageId } from '../../base/values/ids.ts';
import { lowestIdAt } from '../../content/message/message-sql.ts';

interface RelayDelivery {
  readonly relayId: string;
  readonly accountId: AccountId;
  readonly messageId: MessageId;
}

/** The deliveries with these IDs of a relay, by ID. A report doesn't name the account, so each account is searched. */
export async function findRelayDeliveries(
  kysely: Kysely,
  relayIds: readonly string[],
): Promise<ReadonlyMap<string, RelayDelivery>> {
  if (relayIds.length === 0) return new Map();
  const rows = await allRows<RelayDelivery>(kysely)`
    select d.relay_id as "relayId", d.account_id as "accountId", d.message_id as "messageId"
    from account a
    cross join lateral (
      select relay_id, account_id, message_id from relay_delivery
      where account_id = a.id and relay_id = any (${[...new Set(relayIds)]}::text[])) as d`;
  return new Map(rows.map((row) => [row.relayId, row]));
}

/** The end of the name of the migration since which deliveries have tokens. */
const tokensSince = 'relay-deliveries';

/** Those of the messages whose delivery may have been made by a release without tokens, for 7 days after the update. */
export async function findEarlierMessages(
  kysely: Kysely,
  messageIds: readonly MessageId[],
): Promise<ReadonlySet<MessageId>> {
  if (messageIds.length === 0) return new Set();
  const rows = await allRows<{ id: MessageId }>(kysely)`
    select i.id from unnest(${[...new Set(messageIds)]}::uuid[]) as i (id), schema_migration s
    where s.name like ${`%${tokensSince}%`} and s.applied_at > now() - interval '7 days'
      and i.id < ${sql.raw(lowestIdAt('s.applied_at'))}`;
  return new Set(rows.map(({ id }) => id));
}

/**
 * Marks a signed request's token as used, in the same commit as the request's changes.
 * @returns false if it was used before; concurrent calls with the same token wait for each other
 */
export async function consumeToken(transaction: Kysely, token: string): Promise<boolean> {
  const hash = createHash('sha256').update(token).digest();
  const rows = await allRows(transaction)`
    insert into spent_intake_token (hash) values (${hash}) on conflict do nothing returning 1`;
  return rows.length === 1;
}
