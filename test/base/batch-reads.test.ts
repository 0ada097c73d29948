import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchReads } from '../../src/base/database/batch-reads.ts';

test('concurrent lookups share one statement, and each gets its own result', async () => {
  const statements: (readonly string[])[] = [];
  const read = batchReads(async (keys: readonly string[]) => {
    statements.push(keys);
    return keys.map((key) => (key === 'nobody' ? undefined : `row of ${key}`));
  });
  assert.deepEqual(await Promise.all([read('a'), read('nobody'), read('b'), read('a')]), [
    'row of a',
    undefined,
    'row of b',
    'row of a',
  ]);
  assert.deepEqual(statements, [['a', 'nobody', 'b', 'a']]);
});

test('statements are limited in keys, and at most two run concurrently', async () => {
  const sizes: number[] = [];
  let running = 0;
  const read = batchReads(async (keys: readonly number[]) => {
    sizes.push(keys.length);
    running += 1;
    assert.ok(running <= 2);
    await new Promise(setImmediate);
    running -= 1;
    return keys;
  }, 3);
  const keys = Array.from({ length: 10 }, (_, index) => index);
  assert.deepEqual(await Promise.all(keys.map(read)), keys);
  assert.deepEqual(sizes, [3, 3, 3, 1]);
});

test('a failed statement fails all its callers, and the next one starts fresh', async () => {
  let failing = true;
  const read = batchReads(async (keys: readonly string[]) => {
    if (failing) throw new Error('the database is away');
    return keys;
  });
  const results = await Promise.allSettled([read('a'), read('b')]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  failing = false;
  assert.equal(await read('a'), 'a');
});
