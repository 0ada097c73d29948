import type { Database } from '../foundation/database/open-database.ts';
import { enqueueAbandoned, enqueueLocked } from './delivery-store.ts';
import { listAllEndpoints } from './endpoint-store.ts';
import { resumeReplay } from './replay-store.ts';

/**
 * Resumes deliveries and replays that a killed process had started. Claims expire after minutes but the jobs stay locked for
 * hours, so they get new jobs. Safe on any number of nodes at once.
 */
export async function resumeAbandoned(kysely: Database['kysely']): Promise<void> {
  for (const { accountId, id, paused } of await listAllEndpoints(kysely)) {
    if (!paused) await enqueueAbandoned(kysely, accountId, id);
    await resumeReplay(kysely, accountId, id);
  }
  await enqueueLocked(kysely);
}
