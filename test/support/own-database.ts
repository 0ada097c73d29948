import { after } from 'node:test';
import pg from 'pg';
import { openGate } from './tcp-gate.ts';
import { createTestDatabase } from './test-database.ts';

/** A database of an account, whose tables a service reads. */
export interface OwnDatabase {
  /** The account's own connections. */
  readonly pool: pg.Pool;
  /** As the account gives it to a service with `OUTBOX_NETWORKS=127.0.0.0/8`, and as its programs use it. */
  readonly url: string;
}

/** Opens a database of its own that listens on a port, because accounts' servers do. */
export async function openOwnDatabase(): Promise<OwnDatabase> {
  const url = new URL((await openGate((await createTestDatabase()).url)).url);
  // The options of tests' connections put their tables elsewhere.
  url.search = '?sslmode=disable';
  if (url.password === '') url.password = 'any';
  const pool = new pg.Pool({ connectionString: url.href }).on('error', () => undefined);
  after(() => pool.end());
  return { pool, url: url.href };
}
