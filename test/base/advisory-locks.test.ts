import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  type AdvisoryLock,
  advisoryLocks,
  awaitSessionLock,
  lockForTransaction,
  lockKey,
  trySessionLock,
} from '../../src/base/database/advisory-locks.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { waitForLock } from '../support/wait-for-lock.ts';

const { database } = await createTestDatabase();
const root = join(import.meta.dirname, '../..');
const locks = Object.keys(advisoryLocks) as AdvisoryLock[];

/** The keys of released versions, as PostgreSQL shows them in `pg_locks`. Never change one. */
const released: Readonly<Record<AdvisoryLock, string>> = {
  migrations: '7233480021',
  settings: '7233480022',
  messagePartitions: '7233480023',
  backup: '7233480024',
  move: '7233480025',
  budgets: '7233480026',
  recordedWindows: '7233480027',
  webhookLogs: '7233480028',
  systemTemplates: '1283080416041219490',
};

async function keyOf(lock: AdvisoryLock): Promise<string> {
  const { rows } = await database.pool.query<{ key: string }>(
    'select coalesce($1::bigint, hashtextextended($2, 0))::text as key',
    [...lockKey(lock)],
  );
  return rows[0]?.key ?? '';
}

test('no two advisory locks have the same key, whether it is a number or the hash of a name', async () => {
  const keys = await Promise.all(locks.map(keyOf));
  assert.equal(new Set(keys).size, locks.length);
});

test('a lock has the key that nodes of older releases use', async () => {
  for (const lock of locks) assert.equal(await keyOf(lock), released[lock], lock);
});

test('a session and a transaction mean the same lock', async () => {
  for (const lock of locks) {
    const holder = await database.pool.connect();
    try {
      assert.ok(await trySessionLock(holder, lock));
      const waiting = database.kysely
        .transaction()
        .execute((transaction) => lockForTransaction(transaction, lock));
      await waitForLock(database);
      await holder.query('select pg_advisory_unlock_all()');
      await waiting;
    } finally {
      holder.release();
    }
  }
});

test('waiting for a lock ends without it after the given time', async () => {
  const [holder, other] = [await database.pool.connect(), await database.pool.connect()];
  try {
    assert.ok(await trySessionLock(holder, 'move'));
    assert.equal(await awaitSessionLock(other, 'move', 1), false);
    await holder.query('select pg_advisory_unlock_all()');
    assert.ok(await awaitSessionLock(other, 'move', 1));
  } finally {
    other.release(true);
    holder.release();
  }
});

test('only one file has statements that take advisory locks', async () => {
  const found: string[] = [];
  for await (const file of glob('{src,bin,bench,scripts,migrations}/**/*', {
    cwd: root,
    exclude: ['**/node_modules'],
  })) {
    if (!/\.(m?[jt]s|sql)$/.test(file)) continue;
    if (/\bpg_(try_)?advisory_/.test(await readFile(join(root, file), 'utf8'))) found.push(file);
  }
  assert.deepEqual(found.sort(), ['src/base/database/advisory-locks.ts']);
});
