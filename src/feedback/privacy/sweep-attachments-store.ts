import { sql } from 'kysely';
import type { Database } from '../../foundation/database/open-database.ts';

type Kysely = Database['kysely'];

const batchSize = 500;

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
    const { rows } = await sql<{ checked: number; deleted: number }>`
      with due as materialized (
        select account_id, sha256 from attachment_content
        where check_at <= now() order by check_at limit ${batchSize}
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
      select (select count(*) from due)::int as checked, (select count(*) from deleted)::int as deleted`.execute(
      kysely,
    );
    deleted += rows[0]?.deleted ?? 0;
    if ((rows[0]?.checked ?? 0) < batchSize) return deleted;
  }
}
