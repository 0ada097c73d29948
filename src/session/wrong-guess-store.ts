import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';

/** How one subject's wrong guesses stand. */
export interface GuessState {
  readonly key: Buffer;
  readonly failures: number;
  /** Seconds until the next guess is read; 0 or less: now. */
  readonly wait: number;
}

/** Longest delay between two guesses, in seconds. */
const longestDelay = 900;

/** The memory of wrong guesses, shared by all nodes. What is older than an hour counts for nothing. */
export class WrongGuessStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async read(keys: readonly Buffer[], offset: number): Promise<GuessState[]> {
    const { rows } = await sql<GuessState>`
      select key, failures, extract(epoch from free_at - now())::float8 - ${offset}::float8 / 1000 as wait
      from wrong_guess
      where key = any(${keys}) and last_at > now() + ${offset}::float8 * interval '1 ms' - interval '1 hour'`.execute(
      this.#database.kysely,
    );
    return rows;
  }

  /** Counts a wrong guess. Past the free ones each doubles the delay: 1 s, 2 s, 4 s … up to a quarter of an hour. */
  async add(key: Buffer, free: number, offset: number): Promise<void> {
    await sql`
      with moment as (select now() + ${offset}::float8 * interval '1 ms' as at)
      insert into wrong_guess as guess (key, failures, last_at, free_at)
      select ${key}, 1, at, at from moment
      on conflict (key) do update set
        failures = case when guess.last_at < excluded.last_at - interval '1 hour' then 1 else guess.failures + 1 end,
        last_at = excluded.last_at,
        free_at = excluded.last_at + interval '1 s' * case
          when guess.last_at < excluded.last_at - interval '1 hour' or guess.failures + 1 < ${free} then 0
          else least(${longestDelay}, power(2, least(guess.failures + 1 - ${free}, 10))) end`.execute(
      this.#database.kysely,
    );
  }

  async forget(key: Buffer): Promise<void> {
    await sql`delete from wrong_guess where key = ${key}`.execute(this.#database.kysely);
  }
}
