import type { Database } from '../../base/database/open-database.ts';
import type { Log } from '../../base/values/log.ts';
import {
  deleteOldReplies,
  deleteOldRows,
  deleteOldScheduled,
  deleteRemovedImages,
  deleteTrialVersions,
  findAccountsToTrim,
  sweepAttachments,
  trimTestMessages,
} from './delete-old-store.ts';
import { dropOldPartitions } from './drop-partitions-store.ts';
import { applyRetentionRules } from './retention-store.ts';

/** Deletes data past its retention. Errors are logged and left for the next run. */
export async function deleteOldData(database: Database, log: Log): Promise<void> {
  const { kysely } = database;
  const steps = [
    () => deleteOldRows(kysely, 'suppression'),
    () => deleteOldRows(kysely, 'spent_intake_token'),
    () => deleteOldRows(kysely, 'relay_delivery'),
    () => deleteOldRows(kysely, 'failed_request'),
    () => deleteOldRows(kysely, 'inbox_message'),
    () => applyRetentionRules(kysely),
    () => deleteOldScheduled(kysely),
    async () => {
      for (const id of await findAccountsToTrim(kysely)) await trimTestMessages(kysely, id);
    },
    () => dropOldPartitions(database, log),
    () => deleteOldReplies(kysely),
    () => deleteTrialVersions(kysely),
    () => deleteRemovedImages(kysely),
    () => sweepAttachments(kysely),
  ];
  // If one fails, the others still delete their data.
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      log.warn({ err: error }, 'could not delete some old data; retrying in an hour');
    }
  }
}
