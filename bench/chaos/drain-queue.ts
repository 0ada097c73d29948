import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../src/foundation/database/open-database.ts';
import type { AccountId } from '../../src/foundation/ids.ts';
import { QueueControlStore } from '../../src/queue/control-store.ts';
import { countRows } from '../bench-database.ts';

/** Retries everything until the queue is empty. @returns how many are left after the timeout; -1 if unknown */
export async function drainQueue(
  database: Database,
  accountIds: readonly AccountId[],
  timeoutMs = 180_000,
): Promise<number> {
  const controls = new QueueControlStore(database);
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const waiting = await countRows(database, 'queue_entry').catch(() => -1);
    if (waiting === 0 || Date.now() > deadline) return waiting;
    for (const accountId of accountIds)
      await controls.control('retry', { accountId }).catch(() => undefined);
    await delay(1_000);
  }
}
