import { sql } from 'kysely';
import type { Database } from '../../foundation/database/open-database.ts';
import { deleteAttributes, eraseAttachments } from './erase-parts-store.ts';

/** Messages per statement, to keep locks short. */
const chunkSize = 1_000;

/** Deletes scheduled messages of all accounts whose retention, which counts from their send time, is over. */
export async function deleteOldScheduled(kysely: Database['kysely']): Promise<void> {
  for (;;) {
    const { numAffectedRows } = await sql`
      with part as materialized (
        select account_id, message_id, retention_days from scheduled_message
        where keep_until < now() order by keep_until limit ${chunkSize} for update skip locked),
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
        where m.account_id = part.account_id and m.id = part.message_id and m.retention_days = part.retention_days)
      delete from scheduled_message s using part
      where s.account_id = part.account_id and s.message_id = part.message_id`.execute(kysely);
    if (Number(numAffectedRows ?? 0n) < chunkSize) return;
  }
}
