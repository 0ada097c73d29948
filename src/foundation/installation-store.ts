import type { Database } from './database/open-database.ts';
import { OperatorError } from './errors.ts';
import type { MasterKey } from './master-key.ts';

/**
 * Ties the database to the key on first use, and refuses a node that carries another key: it could read none of
 * the stored secrets. While the key is rotated, a node needs both.
 */
export async function requireMatchingKey(database: Database, key: MasterKey): Promise<void> {
  const row = await database.kysely
    .updateTable('installation')
    .set((eb) => ({ key_fingerprint: eb.fn.coalesce('key_fingerprint', eb.val(key.fingerprint)) }))
    .returning(['key_fingerprint', 'key_previous_fingerprint'])
    .executeTakeFirstOrThrow();
  const current = row.key_fingerprint ?? key.fingerprint;
  const missing = key.select(current, row.key_previous_fingerprint);
  if (missing === undefined) return;
  if (missing === row.key_previous_fingerprint)
    throw new OperatorError(
      'The rotation of the master key is not finished: set SIGNALPOST_KEY_PREVIOUS, or the file signalpost.previous.key in DATA_DIR, to the previous key too.',
    );
  throw new OperatorError(
    'This database was set up with another key; set SIGNALPOST_KEY, or the key file in DATA_DIR, to the key of its other nodes.',
  );
}
