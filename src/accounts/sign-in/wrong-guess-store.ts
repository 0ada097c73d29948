import type { Database } from '../../base/database/open-database.ts';
import { allRows, run } from '../../base/database/statements.ts';

/** What guesses are counted by, and how many wrong ones are free. */
export interface GuessSubject {
  readonly key: Buffer;
  readonly free: number;
  /** Maximum seconds between two guesses; a quarter of an hour by default. */
  readonly maxDelaySeconds?: number;
  /** The guess counts here, but never waits or is refused because of others. */
  readonly countsOnly?: boolean;
  /** Seconds that a guess may wait for its turn instead of being refused; none by default. */
  readonly hold?: number;
}

/** A guess counted as wrong for one subject, and the subject's state before. */
export interface CountedGuess {
  readonly key: Buffer;
  readonly failures: number;
  readonly lastAt: string;
  readonly freeAt: string;
}

/**
 * The result of requesting a guess: either it is counted and may be checked after some seconds, or it must be retried
 * then.
 */
export type GuessTurn = { readonly wait: number } & (
  | { readonly counted: readonly CountedGuess[] }
  | {
      readonly counted?: undefined;
      /** The subjects that refused it, and for how many seconds they will. */
      readonly refused: readonly { readonly key: Buffer; readonly wait: number }[];
    }
);

/** Maximum delay between two guesses, in seconds. */
const maxDelaySeconds = 900;

/** Wrong guesses, shared by all nodes. They are forgotten after an hour. */
export class WrongGuessStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Counts a guess as wrong for all its subjects, unless one of them must wait. After the free ones, each doubles the
   * delay: 1 s, 2 s, then 4 s and so on, up to the subject's maximum. A guess that may be held queues behind those
   * already waiting.
   *
   * It is counted before it is checked, so that concurrent guesses on any nodes gain nothing, and neither does
   * crashing the process during a check.
   */
  count(subjects: readonly GuessSubject[]): Promise<GuessTurn> {
    const keys = subjects.map(({ key }) => key);
    return this.#database.kysely.transaction().execute(async (transaction): Promise<GuessTurn> => {
      await run(transaction)`
        insert into wrong_guess (key, failures, last_at, free_at)
        select key, 0, now(), now() from unnest(${keys}::bytea[]) as key order by key
        on conflict (key) do nothing`;
      const rows = await allRows<CountedGuess & { wait: number }>(transaction)`
        select key, case when last_at > now() - interval '1 hour' then failures else 0 end as failures,
          last_at::text as "lastAt", free_at::text as "freeAt", extract(epoch from free_at - now())::float8 as wait
        from wrong_guess where key = any(${keys}) order by key for update`;
      const turns = rows.map(({ key, failures, wait }) => {
        const subject = subjects.find((other) => other.key.equals(key)) ?? { key, free: 0 };
        // Below the free limit there is no wait, not even for a guess that was counted just after this one began.
        const ahead = failures < subject.free ? 0 : Math.max(0, wait);
        const delay = delayAfter(subject, failures + 1);
        const due = subject.countsOnly === true ? 0 : ahead;
        return {
          key,
          due,
          refusedFor: due - (subject.hold ?? 0),
          // One that doesn't wait for its turn takes none from others.
          freeAfter: subject.countsOnly === true ? Math.max(ahead, delay) : ahead + delay,
        };
      });
      const refused = turns.filter(({ refusedFor }) => refusedFor > 0);
      if (refused.length > 0)
        return {
          refused: refused.map(({ key, refusedFor }) => ({ key, wait: refusedFor })),
          wait: Math.max(...refused.map(({ due }) => due)),
        };
      const wait = Math.max(...turns.map(({ due }) => due));
      const counts = rows.map(({ failures }) => failures + 1);
      const delays = turns.map(({ freeAfter }) => freeAfter);
      await run(transaction)`
        update wrong_guess as guess
        set failures = given.failures, last_at = now(), free_at = now() + given.delay * interval '1 s'
        from unnest(${rows.map(({ key }) => key)}::bytea[], ${counts}::integer[], ${delays}::float8[])
          as given (key, failures, delay)
        where guess.key = given.key`;
      return { counted: rows, wait };
    });
  }

  /**
   * Uncounts a guess that was right, and its delay unless another guess followed. Works subject by subject: if
   * interrupted, a subject has one wrong guess too many for an hour.
   */
  async retract(counted: readonly CountedGuess[]): Promise<void> {
    for (const { key, failures, lastAt, freeAt } of counted)
      await run(this.#database.kysely)`
        update wrong_guess set failures = greatest(failures - 1, 0),
          last_at = case when failures = ${failures} + 1 then ${lastAt}::timestamptz else last_at end,
          free_at = case when failures = ${failures} + 1 then ${freeAt}::timestamptz else free_at end
        where key = ${key}`;
  }

  async forget(key: Buffer): Promise<void> {
    await run(this.#database.kysely)`delete from wrong_guess where key = ${key}`;
  }
}

/** Seconds of delay after this many wrong guesses. */
function delayAfter(subject: GuessSubject, failures: number): number {
  const past = failures - subject.free;
  return past < 0
    ? 0
    : Math.min(subject.maxDelaySeconds ?? maxDelaySeconds, 2 ** Math.min(past, 10));
}
