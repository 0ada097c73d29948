import { sql } from 'kysely';
import type { Database } from '../../foundation/database/open-database.ts';

const chunkSize = 500;

/**
 * Forgets the hosted images, of all accounts, that were removed more than an hour ago. Contents that nothing else uses are then
 * deleted with the sweep; an accept that has just found one of them stored still has an hour to use it.
 */
export async function deleteRemovedImages(kysely: Database['kysely']): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ deleted: number }>`
      with part as materialized (
        select account_id, sha256 from hosted_image
        where removed_at < now() - interval '1 hour' order by removed_at limit ${chunkSize} for update skip locked),
      deleted as (
        delete from hosted_image i using part
        where i.account_id = part.account_id and i.sha256 = part.sha256
        returning i.account_id, i.sha256),
      unused as (
        update attachment_content c set check_at = now() + interval '1 hour'
        where (c.account_id, c.sha256) in (select account_id, sha256 from deleted)
          and c.check_at > now() + interval '1 hour')
      select count(*)::int as deleted from deleted`.execute(kysely);
    if ((rows[0]?.deleted ?? 0) < chunkSize) return;
  }
}
