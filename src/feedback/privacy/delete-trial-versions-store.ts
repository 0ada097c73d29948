import { sql } from 'kysely';
import type { Database } from '../../foundation/database/open-database.ts';

/** Versions per statement, to keep locks short. */
const chunkSize = 100;

/** Deletes the hidden versions, of all accounts, whose test messages are gone. Their images are deleted with the sweep. */
export async function deleteTrialVersions(kysely: Database['kysely']): Promise<void> {
  for (;;) {
    const { numAffectedRows } = await sql`
      with part as materialized (
        select account_id, template_id, version from template_version
        where trial and keep_until < now() order by keep_until limit ${chunkSize} for update skip locked),
      unlinked as (
        delete from template_image i using part
        where i.account_id = part.account_id and i.template_id = part.template_id and i.version = part.version)
      delete from template_version v using part
      where v.account_id = part.account_id and v.template_id = part.template_id and v.version = part.version`.execute(
      kysely,
    );
    if (Number(numAffectedRows ?? 0n) < chunkSize) return;
  }
}
