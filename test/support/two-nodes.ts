import { after } from 'node:test';
import { ChangeListener } from '../../src/base/database/change-listener.ts';
import { createLog } from '../../src/base/values/log.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';
import { waitFor } from './wait-for.ts';

/** A database with two listeners, like two nodes; started once `start` resolves. */
export interface TwoNodes extends TestDatabase {
  readonly first: ChangeListener;
  readonly second: ChangeListener;
  start(): Promise<void>;
}

/** Two nodes on one test database. Build their directories first, then `start`. */
export async function createTwoNodes(): Promise<TwoNodes> {
  const stored = await createTestDatabase();
  const { database } = stored;
  const log = createLog('silent');
  const first = new ChangeListener(database.settings, log);
  const second = new ChangeListener(database.settings, log);
  after(async () => {
    await first.close();
    await second.close();
  });
  return {
    ...stored,
    first,
    second,
    async start() {
      await first.start();
      await second.start();
      await waitFor('both listeners', () => first.isReliable() && second.isReliable());
    },
  };
}

/** How long a change may take to reach every node. */
export const changeTimeoutMs = 1_000;
