import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';

/** Remembers a browser that opened the inbox by a link, and forgets those whose time is over. */
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

/** Whether a browser with this cookie opened the inbox by a link, not too long ago. */
export async function isInboxBrowser(kysely: Database['kysely'], hash: Buffer): Promise<boolean> {
  const { rows } = await sql`
    select from inbox_browser
    where hash = ${hash} and expires_at > now()`.execute(kysely);
  return rows.length === 1;
}
