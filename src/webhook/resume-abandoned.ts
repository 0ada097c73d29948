import type { Database } from '../foundation/database/open-database.ts';
import { enqueueAbandoned } from './delivery-store.ts';
import { listActiveEndpoints } from './endpoint-store.ts';

/**
 * Lets deliveries go on that a process had begun when it was killed. Their claims end after some minutes; the jobs that made
 * them stay locked for hours, so they get new ones. Safe on any number of nodes at once.
 */
export async function resumeAbandoned(kysely: Database['kysely']): Promise<void> {
  for (const { accountId, id } of await listActiveEndpoints(kysely))
    await enqueueAbandoned(kysely, accountId, id);
}
