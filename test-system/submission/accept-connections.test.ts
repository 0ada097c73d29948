import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { AcceptStore } from '../../src/sending/submission/accept-store.ts';
import { makeAcceptRow } from '../../test/support/accept-row.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const { database, url } = await createTestDatabase();
const store = new AcceptStore({ url }, 2);
after(() => store.close());

/** Backends that serve a store's connections. */
async function backends(): Promise<number[]> {
  const { rows } = await database.pool.query<{ pid: number }>(
    `select pid from pg_stat_activity
     where datname = current_database() and application_name = 'signalpost accept'`,
  );
  return rows.map(({ pid }) => pid);
}

/** Exits with 0 once another process sees the stored message, and with 1 after a minute. */
const look = `
  import pg from 'pg';
  const client = new pg.Client({ connectionString: process.argv[1] });
  await client.connect();
  const until = performance.now() + 60_000;
  let found = 0;
  while (found === 0 && performance.now() < until)
    found = (await client.query('select from message where id = $1', [process.argv[2]])).rowCount;
  await client.end();
  process.exit(found === 1 ? 0 : 1);`;

test('a batch is stored even if its process is busy from the moment it was dispatched', async () => {
  await store.insert([makeAcceptRow()]);
  const row = makeAcceptRow();
  const outcome = store.insert([row]);
  const seen = spawnSync(process.execPath, ['--input-type=module', '-e', look, url, row.id]);
  assert.equal(seen.status, 0, seen.stderr.toString());
  assert.equal((await outcome)[0]?.kind, 'accepted');
});

test('a connection that breaks while idle fails no batch', async () => {
  await store.insert([makeAcceptRow()]);
  const pids = await backends();
  assert.ok(pids.length > 0);
  await database.pool.query('select pg_terminate_backend(pid) from unnest($1::int[]) as pid', [
    pids,
  ]);
  await waitFor('the end of the backends', async () => (await backends()).length === 0);
  // Their last output has been read by now or will be in this turn.
  await setImmediate();
  assert.equal((await store.insert([makeAcceptRow()]))[0]?.kind, 'accepted');
});

test('more batches than connections all get their turn', async () => {
  const outcomes = await Promise.all(
    Array.from({ length: 12 }, () => store.insert([makeAcceptRow()])),
  );
  assert.deepEqual(new Set(outcomes.map(([outcome]) => outcome?.kind)), new Set(['accepted']));
  assert.ok((await backends()).length <= 2);
});

test('closing waits for a running batch and leaves no connection', async () => {
  const closing = new AcceptStore({ url }, 2);
  await closing.insert([makeAcceptRow()]);
  const outcome = closing.insert([makeAcceptRow()]);
  await closing.close();
  assert.equal((await outcome)[0]?.kind, 'accepted');
  await waitFor('the end of its backends', async () => (await backends()).length <= 2);
});
