import type pg from 'pg';
import type { Clock } from '../../src/base/values/clock.ts';

/** Replaces `now()` in a test database with PostgreSQL's own plus an offset. */
const functionOf = (offsetMs: number): string => `
  create or replace function test_clock.now() returns timestamptz language sql stable
  as $$ select pg_catalog.now() + interval '${offsetMs} ms' $$`;

/** Gives a test database a `now()` that a test can move, for connections with `testClockOptions`. */
export const installTestClock = `create schema test_clock; ${functionOf(0)}`;

/**
 * Options of connections to a test database. Objects without a schema still go into the service's, and column defaults keep
 * using PostgreSQL's own `now()`.
 */
export const testClockOptions = '-c search_path=signalpost,public,test_clock,pg_catalog';

/** The clock of a test: moves its database's `now()` and the services that use this clock together. */
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

  /** Moves the time by `ms` milliseconds. */
  advance(ms: number): Promise<void> {
    return this.#move(this.#offsetMs + ms);
  }

  /** Sets the time, which keeps running from there. */
  set(time: number | Date): Promise<void> {
    return this.#move(Number(time) - Date.now());
  }

  /** Sets the time back to the real one. */
  reset(): Promise<void> {
    return this.#move(0);
  }

  async #move(offsetMs: number): Promise<void> {
    await this.#pool.query(functionOf(offsetMs));
    this.#offsetMs = offsetMs;
  }
}
