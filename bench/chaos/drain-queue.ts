import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../src/base/database/open-database.ts';
import type { AccountId } from '../../src/base/values/ids.ts';
import { QueueControlStore } from '../../src/sending/queue/control-store.ts';
import { countRows } from '../bench-database.ts';

/** How long a database may take to recover, on a busy machine, from the last kill. */
const recoveryMs = 600_000;
/** Each retry is recorded for each waiting message. */
const retryIntervalMs = 10_000;

/**
 * Retries everything until the queue is empty.
 * @param timeoutMs without progress
 * @returns how many are left after the timeout; -1 if unknown
 */
export async function drainQueue(
  database: Database,
  accountIds: readonly AccountId[],
  timeoutMs = 180_000,
): Promise<number> {
  const controls = new QueueControlStore(database);
  const recoveredAt = Date.now() + recoveryMs;
  let deadline = Date.now() + timeoutMs;
  let retryAt = 0;
  let fewest = Number.POSITIVE_INFINITY;
  for (;;) {
    const waiting = await countRows(database, 'queued_delivery').catch(() => -1);
    if (waiting === 0 || Date.now() > deadline) return waiting;
    if (waiting === -1 && Date.now() < recoveredAt) deadline = Date.now() + timeoutMs;
    if (waiting > 0 && waiting < fewest) {
      fewest = waiting;
      deadline = Date.now() + timeoutMs;
    }
    if (Date.now() >= retryAt) {
      for (const accountId of accountIds)
        await controls.control('retry', { accountId }).catch(() => undefined);
      retryAt = Date.now() + retryIntervalMs;
    }
    await delay(1_000);
  }
}
