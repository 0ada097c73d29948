import { type RawBuilder, sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { firstRow, run } from '../../base/database/statements.ts';
import type { ComparableAddress } from '../../base/values/email-address.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { lowestIdAt } from '../../content/message/message-sql.ts';
import { scheduledClassOffset } from '../../content/message/scheduled-class.ts';

/** Replies per statement, to keep locks short. */
const batchSize = 500;

/**
 * Finds replies to erase, and locks their messages until the end of the transaction: a reply that is stored meanwhile could have
 * the same content, whose link it would find, and then lose.
 * @param which conditions on `r`
 * @returns their IDs, at most `batchSize`
 */
async function lockBatch(
  transaction: Kysely,
  accountId: AccountId,
  which: RawBuilder<unknown>,
): Promise<readonly string[]> {
  const row = await firstRow<{ ids: string[] }>(transaction)`
    with part as materialized (
      select r.id, r.message_id, r.retention_days from message_reply r
      where r.account_id = ${accountId} and ${which}
      -- The order of the index by message; by ID alone, the planner would read all replies of the account.
      order by r.message_id, r.id limit ${batchSize}),
    locked as materialized (
      select from message m
      where m.account_id = ${accountId} and (m.id, m.retention_days) in (select message_id, retention_days from part)
      order by m.id for no key update)
    select array(select id from part) as ids, (select count(*) from locked)`;
  return row?.ids ?? [];
}

/**
 * Erases replies, whose messages are locked, and contents that only their parts use. Contents that the message or another reply
 * also uses stay linked.
 * @param keepSender whether the address stays, as a retention rule may keep it longer
 */
async function eraseBatch(
  transaction: Kysely,
  accountId: AccountId,
  ids: readonly string[],
  keepSender: boolean,
): Promise<void> {
  await run(transaction)`
    with part as materialized (
      select r.account_id, r.id, r.message_id, r.retention_days, r.hashes from message_reply r
      where r.account_id = ${accountId} and r.id = any (${ids}::uuid[])
      order by r.id for update),
    erased as (
      update message_reply r set content = null, hashes = '{}', sender = case when ${keepSender} then r.sender end
      from part p where r.account_id = p.account_id and r.id = p.id),
    own as (
      select distinct p.account_id, p.message_id, p.retention_days, h.sha256
      from part p cross join unnest(p.hashes) as h (sha256)
      where not exists (
        select from message_reply o
        where o.account_id = p.account_id and o.message_id = p.message_id and h.sha256 = any (o.hashes)
          and o.id not in (select id from part))
      and not exists (
        select from message m cross join json_array_elements(m.content -> 'attachments') as a (info)
        where m.account_id = p.account_id and m.id = p.message_id and m.retention_days = p.retention_days
          and a.info ->> 'sha256' = encode(h.sha256, 'hex'))),
    unlinked as (
      delete from message_attachment a using own
      where a.account_id = own.account_id and a.message_id = own.message_id and a.retention_days = own.retention_days
        and a.sha256 = own.sha256
      returning a.account_id, a.sha256),
    unused as (
      update attachment_content c set check_at = now() + interval '1 hour'
      where (c.account_id, c.sha256) in (select account_id, sha256 from unlinked)
        and c.check_at > now() + interval '1 hour')
    select from part`;
}

/**
 * Erases all matching replies, in batches of a transaction each unless there is one.
 * @param which conditions on `r`, which erased ones no longer meet
 */
async function eraseAll(
  kysely: Kysely,
  accountId: AccountId,
  which: RawBuilder<unknown>,
  keepSender = false,
): Promise<void> {
  const eraseSome = async (transaction: Kysely): Promise<number> => {
    const ids = await lockBatch(transaction, accountId, which);
    if (ids.length > 0) await eraseBatch(transaction, accountId, ids, keepSender);
    return ids.length;
  };
  for (;;) {
    const count = await (kysely.isTransaction
      ? eraseSome(kysely)
      : kysely.transaction().execute(eraseSome));
    if (count < batchSize) return;
  }
}

/** Erases the replies to messages whose content is erased in this transaction. */
export async function eraseRepliesTo(
  transaction: Kysely,
  accountId: AccountId,
  messageIds: readonly string[],
): Promise<void> {
  if (messageIds.length === 0) return;
  await eraseAll(
    transaction,
    accountId,
    sql`r.message_id = any (${messageIds}::uuid[]) and (r.content is not null or r.sender is not null)`,
  );
}

/** Erases the replies that a person wrote. */
export async function eraseRepliesFrom(
  kysely: Kysely,
  accountId: AccountId,
  address: ComparableAddress,
): Promise<void> {
  await eraseAll(kysely, accountId, sql`r.sender = ${address}`);
}

/**
 * Applies an account's retention rule to its replies: those to messages of more than `contentDays` lose their content, and those
 * to messages of more than `addressDays` also their sender. A reply that arrived while its message was erased is found, too.
 */
export async function applyReplyRetention(kysely: Kysely, accountId: AccountId): Promise<void> {
  await eraseAll(
    kysely,
    accountId,
    sql`r.content is not null and ${isOlderThan(accountId, 'content_days')}`,
    true,
  );
  await eraseAll(
    kysely,
    accountId,
    sql`(r.content is not null or r.sender is not null) and ${isOlderThan(accountId, 'address_days')}`,
  );
}

/**
 * Whether the days of the rule are over; they count from the send time of scheduled messages, which is after their ID. The
 * limit is the same for all replies, so that an index finds those before it.
 */
function isOlderThan(
  accountId: AccountId,
  days: 'content_days' | 'address_days',
): RawBuilder<unknown> {
  const rule = sql`from retention_rule where account_id = ${accountId} and ${sql.ref(days)} is not null`;
  return sql`
    r.message_id < (select ${sql.raw(lowestIdAt(`now() - ${days} * interval '1 day'`))} ${rule})
    and (r.retention_days < ${sql.lit(scheduledClassOffset)} or exists (
      select from scheduled_message s
      where s.account_id = r.account_id and s.message_id = r.message_id
        and s.send_at < (select now() - ${sql.ref(days)} * interval '1 day' ${rule})))`;
}
