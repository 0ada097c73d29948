import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { readLatestMigration } from '../foundation/database/migrate.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { recordKeyNode, removeKeyNode } from '../foundation/key-rotation-store.ts';
import { type KeySource, readSecrets } from '../foundation/load-master-key.ts';
import type { Log } from '../foundation/log.ts';
import type { MasterKey } from '../foundation/master-key.ts';
import { PeriodicTask } from '../foundation/periodic-task.ts';

/** Interval at which a process checks for a rotation of the master key. */
const followKeyIntervalMs = 3_000;

/**
 * Follows a rotation of the master key while the process runs: loads new key files, uses the key that the database
 * names for new data, and records which keys and which release it has, so that `rotate-master` and migrations know when
 * they can continue.
 */
export function followKey(
  database: Database,
  key: MasterKey,
  source: KeySource,
  log: Log,
): { start(): Promise<void>; stop(): Promise<void> } {
  const node = randomUUID();
  const name = `${hostname()} (process ${process.pid})`;
  let latestMigration = 0;
  let warned: string | undefined;
  const round = async (): Promise<void> => {
    try {
      key.addSecrets(await readSecrets(source));
      const known = key.fingerprints;
      const report = { name, known, current: key.fingerprint };
      const state = await recordKeyNode(database, node, report, latestMigration);
      if (state === undefined || state.current === null) return;
      const missing = key.select(state.current, state.previous);
      if (missing !== undefined && missing !== warned)
        log.error(
          { fingerprint: missing },
          'the master key was rotated, but this process doesn’t have the new key',
        );
      warned = missing;
    } catch (error) {
      log.debug({ err: error }, 'could not check the master key');
    }
  };
  const task = new PeriodicTask(followKeyIntervalMs, round);
  return {
    async start() {
      latestMigration = await readLatestMigration();
      await round();
      task.start();
    },
    async stop() {
      await task.stop();
      await removeKeyNode(database, node).catch(() => undefined);
    },
  };
}
