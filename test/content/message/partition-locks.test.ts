import assert from 'node:assert/strict';
import { test } from 'node:test';
import { releaseSessionLock, trySessionLock } from '../../../src/base/database/advisory-locks.ts';
import { createLog } from '../../../src/base/values/log.ts';
import { ensureMessagePartitions } from '../../../src/content/message/message-partitions-store.ts';
import { dropOldPartitions } from '../../../src/outcomes/retention/drop-partitions-store.ts';
import { openTestShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, clock, client } = await openTestShop({ worker: false });
const log = createLog('silent');
const year = 365 * 24 * 60 * 60 * 1000;

async function oldPartitions(): Promise<number> {
  const { rowCount } = await database.pool.query(
    "select from pg_class where relname ~ '^message_90_2020' and relkind = 'r'",
  );
  return rowCount ?? 0;
}

test('dropping old partitions during a long read does not block requests for long and is retried later', async () => {
  await clock.set(Date.parse('2020-06-03T00:00:00Z'));
  await ensureMessagePartitions({ database, log });
  assert.equal(await oldPartitions(), 3);
  await clock.advance(year);

  const reader = await database.pool.connect();
  try {
    await reader.query('begin');
    await reader.query('select count(*) from message');
    let dropping = true;
    const dropped = dropOldPartitions(database, log).finally(() => {
      dropping = false;
    });
    let longest = 0;
    while (dropping) {
      const started = performance.now();
      const response = await client.send();
      assert.equal(response.status, 200, response.text);
      longest = Math.max(longest, performance.now() - started);
    }
    await dropped;
    // Each unavailable lock delays concurrent requests for a fifth of a second.
    assert.ok(longest < 5_000, `the longest took ${longest} ms`);
    assert.equal(await oldPartitions(), 3, 'the reader was not interrupted');
    await reader.query('commit');
  } finally {
    reader.release();
  }

  await dropOldPartitions(database, log);
  assert.equal(await oldPartitions(), 0);
});

test('a process that waits for another one to create partitions does not hold up an index that is built concurrently', async () => {
  const holder = await database.pool.connect();
  const builder = await database.pool.connect();
  try {
    assert.ok(await trySessionLock(holder, 'messagePartitions'));
    await builder.query('create table test_indexed (id integer)');
    let waiting = true;
    const created = ensureMessagePartitions({ database, log }).finally(() => {
      waiting = false;
    });
    await waitFor('it to ask for the lock', async () => {
      const { rowCount } = await database.pool.query(
        `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
         and query like 'select pg_try_advisory_lock%'`,
      );
      return (rowCount ?? 0) > 1;
    });
    await builder.query("set statement_timeout = '60s'");
    await builder.query('create index concurrently test_indexed_id on test_indexed (id)');
    assert.ok(waiting, 'the index was built while the process waited');
    await releaseSessionLock(holder, 'messagePartitions');
    await created;
  } finally {
    builder.release(true);
    holder.release(true);
  }
});
