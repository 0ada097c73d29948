import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../../foundation/database/open-database.ts';

type Kysely = Database['kysely'];

/**
 * Marks a signed request's token as used, in the same commit as the request's changes.
 * @returns false if it was used before; concurrent calls with the same token wait for each other
 */
export async function consumeToken(transaction: Kysely, token: string): Promise<boolean> {
  const hash = createHash('sha256').update(token).digest();
  const { rows } = await sql`
    insert into spent_intake_token (hash) values (${hash}) on conflict do nothing returning 1`.execute(
    transaction,
  );
  return rows.length === 1;
}

const batchSize = 5_000;

/** Deletes tokens whose signature has expired. */
export async function removeSpentTokens(kysely: Kysely): Promise<void> {
  for (;;) {
    const { numAffectedRows } = await sql`
      delete from spent_intake_token where hash in (
        select hash from spent_intake_token where spent_at < now() - interval '1 day' limit ${batchSize})`.execute(
      kysely,
    );
    if (Number(numAffectedRows ?? 0n) < batchSize) return;
  }
}
