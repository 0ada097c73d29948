import type { Database } from '../database/open-database.ts';
import type { Log } from '../log.ts';
import { PeriodicTask } from '../periodic-task.ts';
import { beginLogCursor, lockLogCursor, moveLogCursor } from './log-cursor-store.ts';

type Kysely = Database['kysely'];

/** A range of ended transactions: from (inclusive), until (exclusive). */
export interface LogWindow {
  readonly from: string;
  readonly until: string;
}

export interface LogTailOptions<Row> {
  /** Key of its position; never changes. */
  readonly name: string;
  readonly database: Pick<Database, 'kysely'>;
  readonly log: Log;
  /**
   * Where the next window ends, so that it has about `limit` rows.
   * @param end of the ended transactions
   */
  readonly findEnd: (
    transaction: Kysely,
    from: string,
    end: string,
    limit: number,
  ) => Promise<string>;
  readonly read: (transaction: Kysely, window: LogWindow) => Promise<readonly Row[]>;
  readonly write: (row: Row) => void;
}

const intervalMs = 1_000;
const maxRows = 1_000;

/**
 * Writes committed rows to the log, in commit order and on one node at a time. The position is committed after the lines are
 * written, so a crash in between repeats them but loses none.
 */
export class LogTail<Row> {
  readonly #options: LogTailOptions<Row>;
  readonly #task: PeriodicTask;
  #begun = false;
  #failing = false;

  constructor(options: LogTailOptions<Row>) {
    this.#options = options;
    this.#task = new PeriodicTask(intervalMs, () => this.#run());
  }

  /** Resolves when the position is known: nothing that is committed from here on is missed. */
  async start(): Promise<void> {
    this.#task.start();
    await this.#task.runNow();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
  }

  async #run(): Promise<void> {
    const { database, log, name } = this.#options;
    try {
      if (!this.#begun) await beginLogCursor(database.kysely, name);
      this.#begun = true;
      while (await this.#writeWindow());
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) log.warn({ err: error }, `could not read the ${name} events; retrying`);
      this.#failing = true;
    }
  }

  /** @returns true if more rows may follow */
  #writeWindow(): Promise<boolean> {
    const { database, name, findEnd, read, write } = this.#options;
    return database.kysely.transaction().execute(async (transaction) => {
      const range = await lockLogCursor(transaction, name);
      if (range === undefined) return false;
      const until = await findEnd(transaction, range.from, range.end, maxRows);
      const rows = await read(transaction, { from: range.from, until });
      for (const row of rows) write(row);
      await moveLogCursor(transaction, name, until, rows.length);
      return until !== range.end;
    });
  }
}
