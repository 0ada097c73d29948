import type { Database } from './database/open-database.ts';
import { OperatorError } from './errors.ts';
import type { MasterKey } from './master-key.ts';

/**
 * Ties the database to the master key on first use and rejects a node with a different key, which couldn't read the stored
 * secrets. During a rotation, a node needs both keys.
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
      'The master key rotation isn’t finished. Also provide the previous key in SIGNALPOST_KEY_PREVIOUS or in the file signalpost.previous.key in DATA_DIR.',
    );
  throw new OperatorError(
    'This database was set up with another key. Provide the key of its other nodes in SIGNALPOST_KEY or in the key file in DATA_DIR.',
  );
}
