import type { Database } from '../../foundation/database/open-database.ts';
import type { Log } from '../../foundation/log.ts';
import { PeriodicTask } from '../../foundation/periodic-task.ts';
import { removeOldRelayDeliveries } from '../relay/relay-delivery-store.ts';
import { removeSpentTokens } from '../relay/spent-token-store.ts';
import { deleteOldReplies } from '../reply/erase-replies-store.ts';
import { removeExpiredSuppressions } from '../suppression/suppression-store.ts';
import { deleteRemovedImages } from './delete-removed-images-store.ts';
import { deleteOldScheduled } from './delete-scheduled-store.ts';
import { deleteTrialVersions } from './delete-trial-versions-store.ts';
import { dropOldPartitions } from './drop-partitions-store.ts';
import { applyRetentionRules } from './retention-store.ts';
import { sweepAttachments } from './sweep-attachments-store.ts';

const hour = 60 * 60 * 1000;

/** Deletes data past its retention every hour. */
export class PrivacyUpkeep {
  readonly #dependencies: { readonly database: Database; readonly log: Log };
  readonly #task = new PeriodicTask(hour, () => this.run());

  constructor(dependencies: {
    readonly database: Database;
    readonly log: Log;
  }) {
    this.#dependencies = dependencies;
  }

  start(): void {
    this.#task.start();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
  }

  /** One run; errors are logged and left for the next one. */
  async run(): Promise<void> {
    const { database, log } = this.#dependencies;
    const { kysely } = database;
    const steps = [
      () => removeExpiredSuppressions(kysely),
      () => removeSpentTokens(kysely),
      () => removeOldRelayDeliveries(kysely),
      () => applyRetentionRules(kysely),
      () => deleteOldScheduled(kysely),
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
}
