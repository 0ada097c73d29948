import { setTimeout as delay } from 'node:timers/promises';
import { splitDatabaseUrl } from '../../foundation/database/database-url.ts';
import {
  type Database,
  describeServer,
  openDatabase,
} from '../../foundation/database/open-database.ts';
import {
  findReplicaProblem,
  maxReplicaLagMs,
} from '../../foundation/database/replica/read-replica.ts';
import {
  comparePositions,
  readPrimaryState,
  readReplicaPosition,
  readReplicaState,
} from '../../foundation/database/replica/replica-position-store.ts';
import { isUnavailable } from '../../foundation/database/sqlstate.ts';
import type { Diagnosis, DoctorContext } from './doctor-context.ts';

const pollMs = 20;
const timeoutMs = 5_000;

/** Checks that the replicas follow the database closely enough to serve its reads. @param url DATABASE_READ_URL */
export function checkReplicas(url: string): (context: DoctorContext) => Promise<Diagnosis> {
  return async ({ database }) => {
    if (database === undefined) return { ok: true, finding: 'not checked without the database' };
    const found = await Promise.all(
      splitDatabaseUrl(url, 'DATABASE_READ_URL').map((each) => checkReplica(database, each)),
    );
    const failed = found.filter(({ ok }) => !ok);
    return {
      ok: failed.length === 0,
      finding: found.map(({ finding }) => finding).join('\n               '),
      ...(failed.length > 0 && {
        advice:
          'Until then, the primary serves reports, lists and exports. See docs/operate/scale.md#read-from-replicas.',
      }),
    };
  };
}

async function checkReplica(primary: Database, url: string): Promise<Diagnosis> {
  const settings = { url };
  const name = describeServer(settings);
  const replica = openDatabase(settings, {
    applicationName: 'signalpost doctor',
    maxConnections: 1,
    statementTimeoutMs: timeoutMs,
  });
  try {
    const lagMs = await measureLag(primary, replica);
    if (typeof lagMs === 'string') return { ok: false, finding: `${name} isn’t used: ${lagMs}` };
    return { ok: true, finding: `${name} is ${(lagMs / 1_000).toFixed(1)} s behind` };
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return { ok: false, finding: `${name} doesn’t respond: ${(error as Error).message}` };
  } finally {
    await replica.close();
  }
}

/** @returns milliseconds until the replica reached the primary's first position, or why it isn't used */
async function measureLag(primary: Database, replica: Database): Promise<number | string> {
  const startedAt = performance.now();
  const wanted = await readPrimaryState(primary.pool);
  const problem = findReplicaProblem(wanted, await readReplicaState(replica.pool));
  if (problem !== undefined) return problem;
  while (comparePositions(await readReplicaPosition(replica.pool), wanted.position) < 0) {
    if (performance.now() - startedAt > maxReplicaLagMs)
      return `it is more than ${maxReplicaLagMs / 1_000} seconds behind`;
    await delay(pollMs);
  }
  return performance.now() - startedAt;
}
