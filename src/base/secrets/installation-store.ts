import type { Database } from '../database/open-database.ts';
import { codeOf } from '../database/sqlstate.ts';
import { OperatorError } from '../values/errors.ts';
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

/** A move of the installation between two databases, as one of them records it. */
export interface InstallationMove {
  /** The same in both databases. */
  readonly moveId: string;
  /** Whether this is the old or the new database. */
  readonly side: 'source' | 'target';
  /** Host and name of the other database. */
  readonly peer: string;
  readonly startedAt: Date;
  /** When everything was copied and compared; null until then. */
  readonly finishedAt: Date | null;
}

const undefinedTable = '42P01';
/** Raised by the triggers of `refuse_moved`. */
const movedCode = '55000';

/** @returns undefined if the database isn't part of a move */
export async function readInstallationMove({
  pool,
}: Pick<Database, 'pool'>): Promise<InstallationMove | undefined> {
  try {
    const { rows } = await pool.query<InstallationMove>(
      `select move_id as "moveId", side, peer, started_at as "startedAt", finished_at as "finishedAt"
       from installation_move`,
    );
    return rows[0];
  } catch (error) {
    // The database isn't migrated yet.
    if (codeOf(error) === undefinedTable) return undefined;
    throw error;
  }
}

/**
 * Makes sure that the installation lives in this database.
 * @throws OperatorError naming the other database if a move has started
 */
export async function requireNotMoved(database: Pick<Database, 'pool'>): Promise<void> {
  const move = await readInstallationMove(database);
  if (move !== undefined) throw new OperatorError(describeInstallationMove(move));
}

function describeInstallationMove({ side, peer, startedAt, finishedAt }: InstallationMove): string {
  if (side === 'target')
    return `The move from ${peer} into this database isn’t finished. Run signalpost move again with the settings of the old database.`;
  if (finishedAt === null)
    return `This installation has been moving to ${peer} since ${startedAt.toISOString()}. To continue, run signalpost move --to again; to stay with this database, run: signalpost move --cancel`;
  return `This installation was moved to ${peer} at ${finishedAt.toISOString()}. Set DATABASE_URL to that database. To use the old one again, see: signalpost move --cancel`;
}

/**
 * Explains why a statement was refused if a move has started since.
 * @returns undefined for other errors
 */
export async function explainMovedError(
  database: Pick<Database, 'pool'>,
  error: unknown,
): Promise<unknown> {
  if (codeOf(error) !== movedCode) return undefined;
  return await requireNotMoved(database).then(
    () => undefined,
    (explanation: unknown) => explanation,
  );
}
