import { type RawBuilder, sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow, valuesOf } from '../../base/database/statements.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { retentionClasses } from '../../content/message/message-partitions-store.ts';
import { lowestIdAt } from '../../content/message/message-sql.ts';
import { isTest, maxTestMessages, testClass } from '../../content/message/test-class.ts';
import { oldestCursorOf } from '../feed/feed-cursor-store.ts';
import { deleteAttributes, eraseAttachments } from './erase-parts-store.ts';

/** Repeats a statement that deletes up to `size` rows, to keep locks short, until it finds fewer. */
export async function deleteInBatches(
  kysely: Kysely,
  size: number,
  statement: RawBuilder<unknown>,
): Promise<void> {
  for (;;) {
    const { numAffectedRows = 0n } = await statement.execute(kysely);
    if (numAffectedRows < BigInt(size)) return;
  }
}

/** Rows of all accounts that are deleted once they are old: their key, and when they are. */
const oldRows = {
  suppression: ['account_id, address, reason', 'expires_at < now()'],
  // The signature of the token has expired, too.
  spent_intake_token: ['hash', "spent_at < now() - interval '1 day'"],
  // Copies of test messages.
  inbox_message: ['id', `test and received_at < now() - interval '${testClass} days'`],
  // No report about the delivery is expected any more.
  relay_delivery: ['account_id, relay_id', "at < now() - interval '60 days'"],
  failed_request: ['account_id, id', "at < now() - interval '30 days'"],
} as const;

/** Deletes the old rows of a table. */
export async function deleteOldRows(kysely: Kysely, table: keyof typeof oldRows): Promise<void> {
  const [key, isOld] = oldRows[table];
  const statement = sql.raw(`
    delete from ${table} where (${key}) in (select ${key} from ${table} where ${isOld} limit 5000)`);
  await deleteInBatches(kysely, 5_000, statement);
}

/** The parts of a `with` list that delete the messages of `part`, with what belongs to them. */
const deletedMessages = sql`
  unqueued as (
    delete from queue_entry q using part
    where q.account_id = part.account_id and q.message_id = part.message_id),
  searched as (
    delete from message_search s using part
    where s.account_id = part.account_id and s.message_id = part.message_id
      and s.retention_days = part.retention_days),
  ${deleteAttributes('part')},
  ${eraseAttachments('part')},
  replied as (
    delete from message_reply r using part
    where r.account_id = part.account_id and r.message_id = part.message_id),
  recorded as (
    delete from message_event e using part
    where e.account_id = part.account_id and e.message_id = part.message_id
      and e.retention_days = part.retention_days),
  stored as (
    delete from message m using part
    where m.account_id = part.account_id and m.id = part.message_id and m.retention_days = part.retention_days)`;

/** Deletes scheduled messages of all accounts whose retention, which counts from their send time, is over. */
export async function deleteOldScheduled(kysely: Kysely): Promise<void> {
  const size = 1_000;
  await deleteInBatches(
    kysely,
    size,
    sql`
      with part as materialized (
        select account_id, message_id, retention_days from scheduled_message
        where keep_until < now() order by keep_until limit ${size} for update skip locked),
      ${deletedMessages}
      delete from scheduled_message s using part
      where s.account_id = part.account_id and s.message_id = part.message_id`,
  );
}

/** Max bytes of an account's test messages, as the sum of their attachments and complete messages. */
const maxTestBytes = 1024 ** 3;

/** Test messages that an account has too many of. */
interface TrimmedTests {
  readonly found: number;
  /** Followers read the others first, or what they write about a message would outlive it. */
  readonly deleted: number;
}

/** Deletes an account's oldest test messages over the limits, up to 1,000, in whatever state they are; the newest one always stays. */
export async function trimTestMessages(
  kysely: Kysely,
  accountId: AccountId,
  { messages = maxTestMessages, bytes = maxTestBytes } = {},
): Promise<TrimmedTests> {
  const row = await firstRow<TrimmedTests>(kysely)`
    with counted as (
      select m.account_id, m.id as message_id, m.retention_days, m.tx, row_number() over newest_first as place,
        sum(a.bytes) over newest_first as bytes
      from message m
      cross join lateral (
        select coalesce(sum(octet_length(c.content)), 0) as bytes from message_attachment a
        join attachment_content c on c.account_id = a.account_id and c.sha256 = a.sha256
        where a.account_id = m.account_id and a.message_id = m.id and a.retention_days = m.retention_days) as a
      where m.account_id = ${accountId} and ${sql.raw(isTest('m.retention_days'))}
      window newest_first as (order by m.id desc)),
    excess as materialized (
      select * from counted where place > 1 and (place > ${messages} or bytes > ${bytes}) order by place desc limit 1000),
    part as materialized (
      select account_id, message_id, retention_days from excess where tx < ${oldestCursorOf(accountId)}),
    ${deletedMessages},
    unscheduled as (
      delete from scheduled_message s using part
      where s.account_id = part.account_id and s.message_id = part.message_id)
    select count(*)::int as found, (select count(*)::int from part) as deleted from excess`;
  return row ?? { found: 0, deleted: 0 };
}

/** Accounts with more test messages than they keep. */
export async function findAccountsToTrim(kysely: Kysely): Promise<AccountId[]> {
  return valuesOf<AccountId>(kysely)`
    select account_id from message m where ${sql.raw(isTest('m.retention_days'))}
    group by account_id having count(*) > ${maxTestMessages}`;
}

/** Deletes the replies, of all accounts, whose messages were deleted at the end of their retention. */
export async function deleteOldReplies(kysely: Kysely): Promise<void> {
  const size = 500;
  for (const days of [...retentionClasses, testClass])
    await deleteInBatches(
      kysely,
      size,
      sql`
        delete from message_reply where (account_id, id) in (
          select r.account_id, r.id from message_reply r
          where r.retention_days = ${days}
            and r.message_id < ${sql.raw(lowestIdAt(`now() - interval '${days} days'`))}
            and not exists (
              select from message m
              where m.account_id = r.account_id and m.id = r.message_id and m.retention_days = r.retention_days)
          order by r.message_id limit ${size})`,
    );
}

/** Deletes the hidden versions, of all accounts, whose test messages are gone. Their images are deleted with the sweep. */
export async function deleteTrialVersions(kysely: Kysely): Promise<void> {
  const size = 100;
  await deleteInBatches(
    kysely,
    size,
    sql`
      with part as materialized (
        select account_id, template_id, version from template_version
        where trial and keep_until < now() order by keep_until limit ${size} for update skip locked),
      unlinked as (
        delete from template_image i using part
        where i.account_id = part.account_id and i.template_id = part.template_id and i.version = part.version)
      delete from template_version v using part
      where v.account_id = part.account_id and v.template_id = part.template_id and v.version = part.version`,
  );
}

/**
 * Forgets the hosted images, of all accounts, that were removed more than an hour ago. Contents that nothing else uses are then
 * deleted with the sweep; an accept that has just found one of them stored still has an hour to use it.
 */
export async function deleteRemovedImages(kysely: Kysely): Promise<void> {
  const size = 500;
  await deleteInBatches(
    kysely,
    size,
    sql`
      with part as materialized (
        select account_id, sha256 from hosted_image
        where removed_at < now() - interval '1 hour' order by removed_at limit ${size} for update skip locked),
      unused as (
        update attachment_content c set check_at = now() + interval '1 hour'
        where (c.account_id, c.sha256) in (select account_id, sha256 from part)
          and c.check_at > now() + interval '1 hour')
      delete from hosted_image i using part
      where i.account_id = part.account_id and i.sha256 = part.sha256`,
  );
}

const sweptAtOnce = 500;

/**
 * Deletes contents of attachments that no message and no template uses anymore, and that aren't hosted. A content that is in use is looked at again in a week, unless
 * an erasure moves that ahead.
 *
 * Safe beside accepts: both lock the content's row, and each rechecks `check_at` once it has the lock. An accept that comes
 * second finds the content deleted and stores it again; a sweep that comes second finds its check postponed.
 * @returns how many were deleted
 */
export async function sweepAttachments(kysely: Kysely): Promise<number> {
  let deleted = 0;
  for (;;) {
    const rows = await allRows<{ checked: number; deleted: number }>(kysely)`
      with due as materialized (
        select account_id, sha256 from attachment_content
        where check_at <= now() order by check_at limit ${sweptAtOnce}
        for update skip locked),
      unused as materialized (
        select due.account_id, due.sha256 from due where not exists (
          select from message_attachment a where a.account_id = due.account_id and a.sha256 = due.sha256)
        and not exists (
          select from template_image i where i.account_id = due.account_id and i.sha256 = due.sha256)
        and not exists (
          select from hosted_image i where i.account_id = due.account_id and i.sha256 = due.sha256)),
      postponed as (
        update attachment_content c set check_at = now() + interval '7 days'
        where (c.account_id, c.sha256) in (select account_id, sha256 from due except select account_id, sha256 from unused)),
      deleted as (
        delete from attachment_content c
        where (c.account_id, c.sha256) in (select account_id, sha256 from unused) and c.check_at <= now()
        returning 1)
      select (select count(*) from due)::int as checked, (select count(*) from deleted)::int as deleted`;
    deleted += rows[0]?.deleted ?? 0;
    if ((rows[0]?.checked ?? 0) < sweptAtOnce) return deleted;
  }
}
