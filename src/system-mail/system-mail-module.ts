import type { ChangeListener } from '../foundation/change-listener.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { Log } from '../foundation/log.ts';
import type { MasterKey } from '../foundation/master-key.ts';
import { MailedLinks } from '../outbox/mailed-links.ts';
import { systemMailTopic } from '../outbox/system-mail-store.ts';
import type { Submission } from '../submission/submission-module.ts';
import { SystemMailer, type SystemSender } from './send-system-mail.ts';

export interface SystemMailDependencies {
  readonly database: Database;
  readonly key: MasterKey;
  readonly log: Log;
  readonly changes: Pick<ChangeListener, 'subscribe'>;
  /** Undefined: no system mail is sent. */
  readonly from: SystemSender | undefined;
  readonly publicUrl: () => string;
  readonly sendOwn: Submission['sendServiceMessage'];
}

/** Sending of system mail. */
export interface SystemMailModule {
  /** Starts sending queued mail. */
  start(): void;
  stop(): Promise<void>;
}

/** Milliseconds between polls if no notification arrives. */
const pollIntervalMs = 5_000;

export function createSystemMailModule(dependencies: SystemMailDependencies): SystemMailModule {
  const { database, key, log, from, publicUrl, sendOwn } = dependencies;
  const links = new MailedLinks(key);
  const mailer = new SystemMailer({ database, log, key, links, from, publicUrl, sendOwn });
  let running: Promise<void> | undefined;
  let again = false;
  let timer: NodeJS.Timeout | undefined;
  let stopped = true;

  function poll(): void {
    if (stopped) return;
    if (running !== undefined) {
      again = true;
      return;
    }
    again = false;
    running = mailer
      .sendWaiting()
      .catch((error: unknown) => log.warn({ err: error }, 'could not send system mail; will retry'))
      .finally(() => {
        running = undefined;
        if (again) poll();
      });
  }

  dependencies.changes.subscribe(systemMailTopic, poll);
  return {
    start() {
      stopped = false;
      timer = setInterval(poll, pollIntervalMs).unref();
      poll();
    },
    async stop() {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}
