import type pg from 'pg';
import type { Clock } from '../../src/foundation/clock.ts';

/** `now()` as the statements of a test database find it, so many milliseconds away from PostgreSQL's own. */
const functionOf = (offsetMs: number): string => `
  create or replace function test_clock.now() returns timestamptz language sql stable
  as $$ select pg_catalog.now() + interval '${offsetMs} ms' $$`;

/**
 * Lets connections to a database that are opened from now on find a `now()` that a test can move. What is made without
 * a schema goes into `public` as ever, and the default of a column stays PostgreSQL's own `now()`.
 */
export const installTestClock = (databaseName: string): string => `
  create schema test_clock;
  ${functionOf(0)};
  alter database ${databaseName} set search_path = "$user", public, test_clock, pg_catalog`;

/** The time of a test: that of its database's `now()` and of the services that are given this clock, moved together. */
export class TestClock implements Clock {
  readonly #pool: pg.Pool;
  #offsetMs = 0;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  now(): number {
    return Date.now() + this.#offsetMs;
  }

  monotonic(): number {
    return performance.now() + this.#offsetMs;
  }

  /** Moves the time by so many milliseconds. */
  advance(ms: number): Promise<void> {
    return this.#move(this.#offsetMs + ms);
  }

  /** Moves the time to a moment, from which it goes on. */
  set(time: number | Date): Promise<void> {
    return this.#move(Number(time) - Date.now());
  }

  /** Moves the time back to the real one. */
  reset(): Promise<void> {
    return this.#move(0);
  }

  async #move(offsetMs: number): Promise<void> {
    await this.#pool.query(functionOf(offsetMs));
    this.#offsetMs = offsetMs;
  }
}
