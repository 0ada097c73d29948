import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';

type Kysely = Database['kysely'];

/** What a one-time link opens: the form for the first owner, or the local inbox. */
export type OneTimeLinkPurpose = 'set-up' | 'inbox';

/** Keeps the hash of a new code; the earlier one for the same purpose ends. */
export async function saveOneTimeLink(
  kysely: Kysely,
  purpose: OneTimeLinkPurpose,
  codeHash: Buffer,
  seconds: number,
): Promise<void> {
  await sql`
    insert into one_time_link (purpose, code_hash, expires_at)
    values (${purpose}, ${codeHash}, now() + ${seconds} * interval '1 s')
    on conflict (purpose) do update set code_hash = excluded.code_hash, expires_at = excluded.expires_at`.execute(
    kysely,
  );
}

/** Whether a code is the current one and has not expired. */
export async function isValidOneTimeLink(
  kysely: Kysely,
  purpose: OneTimeLinkPurpose,
  codeHash: Buffer,
): Promise<boolean> {
  const { rows } = await sql`
    select from one_time_link
    where purpose = ${purpose} and code_hash = ${codeHash}
      and expires_at > now()`.execute(kysely);
  return rows.length === 1;
}

/** Uses a code up. @returns false where it was used already, has expired, or never was one */
export async function consumeOneTimeLink(
  kysely: Kysely,
  purpose: OneTimeLinkPurpose,
  codeHash: Buffer,
): Promise<boolean> {
  const { rows } = await sql`
    delete from one_time_link
    where purpose = ${purpose} and code_hash = ${codeHash}
      and expires_at > now()
    returning 1`.execute(kysely);
  return rows.length === 1;
}
