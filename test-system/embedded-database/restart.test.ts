import assert from 'node:assert/strict';
import { once } from 'node:events';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import {
  initializedFolder,
  queryEmbedded,
  startEmbedded,
} from '../../test/support/embedded-scene.ts';
import { waitFor } from '../../test/support/wait-for.ts';

function pidOf(database: { pid: number | undefined }): number {
  assert(database.pid);
  return database.pid;
}

test('a killed database comes back with its data, and emits events', async () => {
  const database = await startEmbedded(await initializedFolder());
  await queryEmbedded(database.settings, 'create table kept as select 42 as answer');
  for (const signal of ['SIGKILL', 'SIGQUIT', 'SIGTERM'] as const) {
    const events: string[] = [];
    database.once('down', () => events.push('down'));
    const up = once(database, 'up').then(() => events.push('up'));
    process.kill(pidOf(database), signal);
    await up;
    assert.deepEqual(events, ['down', 'up']);
    assert.equal(await queryEmbedded(database.settings, 'select answer from kept'), 42);
  }
  await database.stop();
});

test('a database stopped during recovery stays stopped', async () => {
  const dataDir = await initializedFolder();
  const database = await startEmbedded(dataDir);
  let restarted = false;
  database.once('up', () => {
    restarted = true;
  });
  const down = once(database, 'down');
  process.kill(pidOf(database), 'SIGKILL');
  await down;
  await database.stop();
  await database.stop();
  assert.equal(restarted, false);
  await assert.rejects(queryEmbedded(database.settings, 'select 1'));
  await (await startEmbedded(dataDir)).stop();
});

test('a database stopped by someone else comes back, although connections stay open', async () => {
  const database = await startEmbedded(await initializedFolder());
  const pool = new pg.Pool({ ...database.settings, max: 1 });
  pool.on('error', () => undefined);
  await pool.query('select 1');
  const up = once(database, 'up');
  process.kill(pidOf(database), 'SIGTERM');
  await up;
  assert.equal((await pool.query('select 1 as one')).rows[0].one, 1);
  await pool.end();
  await database.stop();
});

test('a long log is rotated at a start', async () => {
  const dataDir = await initializedFolder();
  const log = join(dataDir, 'database.log');
  await writeFile(log, Buffer.alloc(11 * 1024 * 1024, 'x\n'));
  const database = await startEmbedded(dataDir);
  assert((await stat(log)).size < 10_000);
  assert.equal((await stat(`${log}.1`)).size, 11 * 1024 * 1024);
  await database.stop();
});

test("killing one connection of the database doesn't end it", async () => {
  const database = await startEmbedded(await initializedFolder());
  database.once('down', () => assert.fail('the database went down'));
  const before = pidOf(database);
  const died = assert.rejects(queryEmbedded(database.settings, 'select pg_sleep(600) as victim'));
  const pid = await waitFor('the connection', () =>
    queryEmbedded(
      database.settings,
      "select pid from pg_stat_activity where query like '%victim' and pid <> pg_backend_pid()",
    ),
  );
  process.kill(Number(pid), 'SIGKILL');
  await died;
  const response = await waitFor('a response', () =>
    queryEmbedded(database.settings, 'select 1').catch(() => undefined),
  );
  assert.equal(response, 1);
  assert.equal(database.pid, before);
  await database.stop();
});
