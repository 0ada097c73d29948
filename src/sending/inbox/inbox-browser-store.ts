import { sql } from 'kysely';
import type { Database } from '../../base/database/open-database.ts';

/** Saves a browser that opened the inbox with a link, and deletes expired ones. */
export async function saveInboxBrowser(
  kysely: Database['kysely'],
  hash: Buffer,
  seconds: number,
): Promise<void> {
  await sql`
    with moment as (select now() as at),
      expired as (delete from inbox_browser where expires_at <= (select at from moment))
    insert into inbox_browser (hash, expires_at)
    select ${hash}, at + ${seconds} * interval '1 s' from moment`.execute(kysely);
}

/** Whether a browser with this cookie opened the inbox with a link and has not expired. */
export async function isInboxBrowser(kysely: Database['kysely'], hash: Buffer): Promise<boolean> {
  const { rows } = await sql`
    select from inbox_browser
    where hash = ${hash} and expires_at > now()`.execute(kysely);
  return rows.length === 1;
}
