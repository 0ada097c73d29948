import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, run } from '../../base/database/statements.ts';

/** Saves a browser that opened the inbox with a link, and deletes expired ones. */
export async function saveInboxBrowser(
  kysely: Kysely,
  hash: Buffer,
  seconds: number,
): Promise<void> {
  await run(kysely)`
    with moment as (select now() as at),
      expired as (delete from inbox_browser where expires_at <= (select at from moment))
    insert into inbox_browser (hash, expires_at)
    select ${hash}, at + ${seconds} * interval '1 s' from moment`;
}

/** Whether a browser with this cookie opened the inbox with a link and has not expired. */
export async function isInboxBrowser(kysely: Kysely, hash: Buffer): Promise<boolean> {
  const rows = await allRows(kysely)`
    select from inbox_browser
    where hash = ${hash} and expires_at > now()`;
  return rows.length === 1;
}
