import type { Database } from '../../base/database/open-database.ts';
import { PeriodicTask } from '../../base/threads/periodic-task.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { Log } from '../../base/values/log.ts';
import { findUnordered, orderRows } from './order-rows-store.ts';

const hourMs = 60 * 60 * 1_000;
const dayMs = 24 * hourMs;
const maxDaysPerBatch = 1_000;

/** Reorders the rows of past days every hour to match how reports read them. */
export function createReportUpkeep({
  database,
  clock,
  log,
}: {
  readonly database: Database;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}) {
  const task = new PeriodicTask(hourMs, run);
  let stopping = false;
  return { start, stop, run };

  function start(): void {
    task.start();
  }

  /** Stops after the current day. */
  async function stop(): Promise<void> {
    stopping = true;
    await task.stop();
  }

  /** Runs one round. Errors are logged and left to the next round. */
  async function run(): Promise<void> {
    // Events for a day can arrive after it ends.
    const bound = new Date(Math.floor((clock.now() - 2 * hourMs) / dayMs) * dayMs);
    try {
      for (;;) {
        const days = await findUnordered(database.kysely, bound, maxDaysPerBatch);
        if (days.length === 0) return;
        for (const day of days) {
          if (stopping) return;
          await orderRows(database.kysely, day);
        }
      }
    } catch (error) {
      log.warn({ err: error }, 'could not reorder report rows; retrying in an hour');
    }
  }
}
