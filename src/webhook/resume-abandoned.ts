import type { Database } from '../foundation/database/open-database.ts';
import { enqueueAbandoned } from './delivery-store.ts';
import { listActiveEndpoints } from './endpoint-store.ts';

/**
 * Resumes deliveries that a killed process had started. Claims expire after minutes but the jobs stay locked for hours,
 * so they get new jobs. Safe on any number of nodes at once.
 */
export async function resumeAbandoned(kysely: Database['kysely']): Promise<void> {
  for (const { accountId, id } of await listActiveEndpoints(kysely))
    await enqueueAbandoned(kysely, accountId, id);
}
