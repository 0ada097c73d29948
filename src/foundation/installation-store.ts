import type { Database } from './database/open-database.ts';
import { OperatorError } from './errors.ts';
import type { MasterKey } from './master-key.ts';

/**
 * Ties the database to the key on first use, and refuses a node that carries another key: it could read none of
 * the stored secrets.
 */
export async function requireSameKey(database: Database, key: MasterKey): Promise<void> {
  const row = await database.kysely
    .updateTable('installation')
    .set((eb) => ({ key_fingerprint: eb.fn.coalesce('key_fingerprint', eb.val(key.fingerprint)) }))
    .returning('key_fingerprint')
    .executeTakeFirstOrThrow();
  if (row.key_fingerprint !== key.fingerprint) {
    throw new OperatorError(
      'This database was set up with another key; set SIGNALPOST_KEY, or the key file in DATA_DIR, to the key of its other nodes.',
    );
  }
}
