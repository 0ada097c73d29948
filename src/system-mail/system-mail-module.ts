import type { ChangeListener } from '../foundation/change-listener.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { Log } from '../foundation/log.ts';
import type { MasterKey } from '../foundation/master-key.ts';
import { PeriodicTask } from '../foundation/periodic-task.ts';
import { EndSessionsLinks, MailedLinks } from '../outbox/mailed-links.ts';
import { systemMailTopic } from '../outbox/system-mail-store.ts';
import type { Submission } from '../submission/submission-module.ts';
import { SystemMailer, type SystemSender } from './send-system-mail.ts';

export interface SystemMailDependencies {
  readonly database: Database;
  readonly key: MasterKey;
  readonly log: Log;
  readonly clock: Clock;
  readonly changes: Pick<ChangeListener, 'subscribe'>;
  /** Undefined: no system mail is sent. */
  readonly from: SystemSender | undefined;
  readonly publicUrl: () => string;
  readonly sendOwn: Submission['sendServiceMessage'];
}

/** Sends system mail in the background. */
export interface SystemMailModule {
  /** Starts sending, beginning with mail that is already waiting. */
  start(): void;
  stop(): Promise<void>;
}

/** Poll interval in milliseconds: notices are collected for a moment, and a notification may be missed. */
const pollIntervalMs = 2_000;

/** Wires system mail without starting it. */
export function createSystemMailModule(dependencies: SystemMailDependencies): SystemMailModule {
  const { database, key, log, from, publicUrl, sendOwn } = dependencies;
  const links = new MailedLinks(key);
  const endSessionsLinks = new EndSessionsLinks(key, dependencies.clock);
  const mailer = new SystemMailer({
    database,
    log,
    key,
    links,
    endSessionsLinks,
    from,
    publicUrl,
    sendOwn,
  });
  const task = new PeriodicTask(pollIntervalMs, () => mailer.sendWaiting(), {
    onError: (error) => log.warn({ err: error }, 'could not send system mail; will retry'),
  });
  dependencies.changes.subscribe(systemMailTopic, () => void task.runNow());
  return {
    start() {
      task.start();
      void task.runNow();
    },
    stop: () => task.stop(),
  };
}
