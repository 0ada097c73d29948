import { type RawBuilder, sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow } from '../../base/database/statements.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { readerEventKinds } from '../../content/message/event-kinds.ts';
import {
  engagementBit,
  hasAttributes,
  kindList,
  lowestIdAt,
  withoutTexts,
} from '../../content/message/message-sql.ts';
import { scheduledClassOffset } from '../../content/message/scheduled-class.ts';
import { oldestCursorOf } from '../feed/feed-cursor-store.ts';
import { applyReplyRetention } from '../reply/erase-replies-store.ts';
import {
  cancelWaiting,
  deleteAttributes,
  eraseAttachments,
  eraseTraces,
  eraseWebhooks,
} from './erase-parts-store.ts';

/** Days after which an account's data is erased before its messages are; null: with the message. */
export interface RetentionRule {
  readonly contentDays: number | null;
  readonly addressDays: number | null;
  /** Opens and clicks. */
  readonly engagementDays: number | null;
}

export async function readRetentionRule(
  kysely: Kysely,
  accountId: AccountId,
): Promise<RetentionRule> {
  const row = await firstRow<RetentionRule>(kysely)`
    select content_days as "contentDays", address_days as "addressDays", engagement_days as "engagementDays"
    from retention_rule where account_id = ${accountId}`;
  return row ?? { contentDays: null, addressDays: null, engagementDays: null };
}

/**
 * Days for which an account's messages are complete, with addresses and engagement; undefined if there is no such
 * account.
 */
export async function fullRetentionDays(
  kysely: Kysely,
  accountId: AccountId,
): Promise<number | undefined> {
  const row = await firstRow<{ days: number }>(kysely)`
    select least(a.retention_days, r.address_days, r.engagement_days)::int as days
    from account a left join retention_rule r on r.account_id = a.id where a.id = ${accountId}`;
  return row?.days;
}

/** Sets an account's rule, which also applies to existing data. Days must be at least 3. */
export async function saveRetentionRule(
  kysely: Kysely,
  accountId: AccountId,
  rule: RetentionRule,
): Promise<void> {
  await allRows(kysely)`
    insert into retention_rule (account_id, content_days, address_days, engagement_days)
    values (${accountId}, ${rule.contentDays}, ${rule.addressDays}, ${rule.engagementDays})
    on conflict (account_id) do update set content_days = excluded.content_days, address_days = excluded.address_days,
      engagement_days = excluded.engagement_days`;
}

const batchSize = 1_000;

/** The lowest UUIDv7 of that many days ago. @param days a column */
const boundOf = (days: 'content_days' | 'address_days' | 'engagement_days'): RawBuilder<string> =>
  sql.raw(lowestIdAt(`now() - ${days} * interval '1 day'`));

interface Step {
  readonly days: 'content_days' | 'address_days';
  readonly done: 'content_done' | 'address_done';
  /** The same for scheduled messages. */
  readonly scheduledDone: 'content_erased' | 'addresses_erased';
  /** Erasing statements to append to the `with` list; `part` holds account_id, message_id and retention_days. */
  readonly erase: RawBuilder<unknown>;
}

const steps: readonly Step[] = [
  {
    days: 'content_days',
    done: 'content_done',
    scheduledDone: 'content_erased',
    // Cancel messages that still wait for a review or a suspended account, so that they aren't sent without their
    // values.
    erase: sql`erased as (
      update message m
      set content = case when exists (
          select from queued_delivery q where q.account_id = m.account_id and q.message_id = m.id) then null
        else ${sql.raw(withoutTexts('m'))} end
      from part where m.account_id = part.account_id and m.id = part.message_id and m.retention_days = part.retention_days
        and m.content is not null),
    ${cancelWaiting('part')},
    ${eraseAttachments('part')},
    ${deleteAttributes('part')},
    -- Logged requests contain the attributes.
    ${eraseWebhooks(
      'part',
      sql`exists (
        select from message m
        where m.account_id = f.account_id and m.id = f.message_id and m.retention_days = f.retention_days
          and ${sql.raw(hasAttributes('m'))})`,
    )}`,
  },
  {
    days: 'address_days',
    done: 'address_done',
    scheduledDone: 'addresses_erased',
    erase: sql`erased as (
      update message m set content = null
      from part where m.account_id = part.account_id and m.id = part.message_id and m.retention_days = part.retention_days
        and m.content is not null),
    ${cancelWaiting('part')},
    ${eraseAttachments('part')},
    ${deleteAttributes('part')},
    searched as (
      update message_search s set address = null
      from part where s.account_id = part.account_id and s.message_id = part.message_id and s.retention_days = part.retention_days),
    ${eraseTraces('part')}`,
  },
];

/** Applies accounts' retention rules in batches. */
export async function applyRetentionRules(kysely: Kysely): Promise<void> {
  const rows = await allRows<{ account_id: AccountId }>(kysely)`
    select account_id from retention_rule`;
  for (const { account_id: accountId } of rows) {
    for (const step of steps) while (await applyStep(kysely, accountId, step));
    for (const step of steps) while (await applyScheduledStep(kysely, accountId, step));
    while (await eraseEngagement(kysely, accountId));
    await applyReplyRetention(kysely, accountId);
  }
}

/**
 * Opens and clicks can arrive at any time, so they are found by their own index. Those that a follower hasn't read yet
 * are left for the next run, so that they are still counted and sent to webhooks.
 * @returns true if there is more to do
 */
async function eraseEngagement(kysely: Kysely, accountId: AccountId): Promise<boolean> {
  const row = await firstRow<{ count: number }>(kysely)`
    with rule as materialized (
      select ${boundOf('engagement_days')} as bound, now() - engagement_days * interval '1 day' as since from retention_rule
      where account_id = ${accountId} and engagement_days is not null),
    part as materialized (
      select account_id, message_id, retention_days, id, ${sql.raw(engagementBit('message_event'))} as bit from message_event
      where account_id = ${accountId} and kind in (${sql.raw(kindList(readerEventKinds))}) and message_id < (select bound from rule)
        and tx < ${oldestCursorOf(accountId)}
        and (retention_days < ${sql.lit(scheduledClassOffset)} or not exists (
          select from scheduled_message s
          where s.account_id = message_event.account_id and s.message_id = message_event.message_id
            and s.send_at >= (select since from rule)))
      order by message_id limit ${batchSize}),
    erased as (
      delete from message_event e using part
      where e.account_id = part.account_id and e.message_id = part.message_id and e.id = part.id
        and e.retention_days = part.retention_days),
    -- Later opens and clicks of the same kind are counted, but not as unique ones.
    marked as (
      update message m set engaged = coalesce(m.engaged, 0) | p.bits
      from (select message_id, retention_days, bit_or(bit)::smallint as bits from part group by 1, 2) as p
      where m.account_id = ${accountId} and m.id = p.message_id and m.retention_days = p.retention_days
        and coalesce(m.engaged, 0) | p.bits is distinct from m.engaged),
    ${eraseWebhooks('part', sql`w.event_id = f.id`)}
    select count(*)::int as count from part`;
  return row?.count === batchSize;
}

/**
 * Like `applyStep` for scheduled messages, whose days count from their send time.
 * @returns true if there is more to do
 */
async function applyScheduledStep(
  kysely: Kysely,
  accountId: AccountId,
  { days, scheduledDone, erase }: Step,
): Promise<boolean> {
  const row = await firstRow<{ count: number }>(kysely)`
    with rule as materialized (
      select now() - ${sql.ref(days)} * interval '1 day' as since from retention_rule
      where account_id = ${accountId} and ${sql.ref(days)} is not null for update),
    part as materialized (
      select s.account_id, s.message_id, s.retention_days from scheduled_message s
      where s.account_id = ${accountId} and s.send_at < (select since from rule) and not ${sql.ref(`s.${scheduledDone}`)}
      order by s.send_at limit ${batchSize}),
    ${erase},
    moved as (
      update scheduled_message s set ${sql.ref(scheduledDone)} = true
      from part where s.account_id = ${accountId} and s.message_id = part.message_id)
    select count(*)::int as count from part`;
  return row?.count === batchSize;
}

/** @returns true if there is more to do */
async function applyStep(
  kysely: Kysely,
  accountId: AccountId,
  { days, done, erase }: Step,
): Promise<boolean> {
  const row = await firstRow<{ count: number }>(kysely)`
    with rule as materialized (
      select ${sql.ref(done)} as done, ${boundOf(days)} as bound from retention_rule
      where account_id = ${accountId} and ${sql.ref(days)} is not null for update),
    part as materialized (
      -- A join with the rule would lose the order of the index, and each batch would sort all messages that are left.
      select m.account_id, m.id as message_id, m.retention_days from message m
      where m.account_id = ${accountId} and m.id > (select done from rule) and m.id < (select bound from rule)
        and m.retention_days < ${sql.lit(scheduledClassOffset)}
      order by m.id limit ${batchSize}),
    ${erase},
    moved as (
      update retention_rule set ${sql.ref(done)} = (select message_id from part order by message_id desc limit 1)
      where account_id = ${accountId} and exists (select from part))
    select count(*)::int as count from part`;
  return row?.count === batchSize;
}
