import type { Database, Kysely } from '../../base/database/open-database.ts';
import { PeriodicTask } from '../../base/threads/periodic-task.ts';
import type { Log } from '../../base/values/log.ts';
import {
  type AuditEvent,
  findRecorded,
  type RecordedEvent,
  recordedEvents,
} from './audit-store.ts';

const intervalMs = 1_000;
/** No transaction that records an event takes longer, so an event that isn't there by then was rolled back. */
const maxTransactionMs = 60_000;

/** Writes each event that this process records in the audit log as a line, whatever LOG_LEVEL is, once it is committed. */
export class AuditLines {
  readonly #kysely: Kysely;
  readonly #lines: Log;
  readonly #task: PeriodicTask;
  readonly #waiting = new Map<string, { readonly event: AuditEvent; readonly since: number }>();
  readonly #add = (message: unknown): void => {
    const { id, ...event } = message as RecordedEvent;
    this.#waiting.set(id, { event, since: performance.now() });
  };

  constructor({ kysely }: Pick<Database, 'kysely'>, log: Log) {
    this.#kysely = kysely;
    this.#lines = log.child({ log: 'audit' }, { level: 'info' });
    this.#task = new PeriodicTask(intervalMs, () => this.#write(), {
      onError: (error) => log.warn({ err: error }, 'could not log audit events; retrying'),
    });
  }

  start(): void {
    recordedEvents.subscribe(this.#add);
    this.#task.start();
  }

  /** Writes what has been recorded. */
  async stop(): Promise<void> {
    recordedEvents.unsubscribe(this.#add);
    await this.#task.runNow();
    await this.#task.stop();
  }

  async #write(): Promise<void> {
    if (this.#waiting.size === 0) return;
    const committed = await findRecorded(this.#kysely, [...this.#waiting.keys()]);
    for (const [id, { event, since }] of this.#waiting) {
      const at = committed.get(id);
      if (at === undefined && performance.now() - since < maxTransactionMs) continue;
      this.#waiting.delete(id);
      if (at === undefined) continue;
      const { origin, ...members } = event;
      const { remoteAddress: client, requestId } = origin;
      this.#lines.info({ at, ...members, client, requestId }, 'audit event');
    }
  }
}
