import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CommitFailure, GroupCommit } from '../../src/base/database/group-commit.ts';

const options = { max: 100, concurrency: 1, waiting: 1_000 };

test('items that arrive together share one group', async () => {
  const groups: number[][] = [];
  const commit = new GroupCommit<number, number>(async (items) => {
    groups.push([...items]);
    return items;
  }, options);
  await Promise.all([1, 2, 3].map((item) => commit.add(item)));
  assert.deepEqual(groups, [[1, 2, 3]]);
});

test('items that arrive while a group is running wait for the next one', async () => {
  const groups: number[][] = [];
  const first = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const commit = new GroupCommit<number, number>(async (items) => {
    groups.push([...items]);
    started.resolve();
    if (groups.length === 1) await first.promise;
    return items;
  }, options);
  const one = commit.add(1);
  await started.promise;
  const others = [commit.add(2), commit.add(3)];
  first.resolve();
  await Promise.all([one, ...others]);
  assert.deepEqual(groups, [[1], [2, 3]]);
});

test('a full group starts at once if possible, the rest at the end of the turn', async () => {
  const groups: number[][] = [];
  const first = Promise.withResolvers<void>();
  const commit = new GroupCommit<number, number>(
    async (items) => {
      groups.push([...items]);
      await first.promise;
      return items;
    },
    { ...options, concurrency: 2, enough: 2 },
  );
  const results = [1, 2, 3, 4, 5, 6, 7].map((item) => commit.add(item));
  assert.deepEqual(groups, [
    [1, 2],
    [3, 4],
  ]);
  first.resolve();
  assert.deepEqual(await Promise.all(results), [1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(groups.slice(2), [[5, 6, 7]]);
});

test('a failed group rejects only its own items', async () => {
  const commit = new GroupCommit<number, number>(
    async (items) => {
      if (items.includes(13)) throw new Error('unlucky');
      return items;
    },
    { ...options, max: 1 },
  );
  await assert.rejects(async () => commit.add(13), /unlucky/);
  assert.equal(await commit.add(14), 14);
});

test('items beyond the waiting limit are rejected', async () => {
  const commit = new GroupCommit<number, number>(async (items) => items, {
    ...options,
    waiting: 2,
  });
  const accepted = [commit.add(1), commit.add(2)];
  assert.equal(commit.add(3), undefined);
  await Promise.all(accepted);
  assert.equal(await commit.add(4), 4);
});

test('draining waits for waiting and running items', async () => {
  const done: number[] = [];
  const commit = new GroupCommit<number, number>(
    async (items) => {
      await new Promise((resolve) => setImmediate(resolve));
      done.push(...items);
      return items;
    },
    { ...options, max: 2 },
  );
  for (const item of [1, 2, 3, 4, 5]) void commit.add(item);
  await commit.drain();
  assert.deepEqual(done, [1, 2, 3, 4, 5]);
});

test('every item gets its own result, within the limits of group size and concurrency', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(), fc.boolean()), { maxLength: 60 }),
      fc.integer({ min: 1, max: 7 }),
      fc.integer({ min: 1, max: 3 }),
      fc.option(fc.integer({ min: 1, max: 7 }), { nil: undefined }),
      async (items, most, concurrency, enough) => {
        let running = 0;
        const commit = new GroupCommit<number, string>(
          async (group) => {
            running += 1;
            assert.ok(group.length <= most && running <= concurrency);
            await new Promise((resolve) => setImmediate(resolve));
            running -= 1;
            return group.map((item) => `answer ${item}`);
          },
          { max: most, concurrency, enough, waiting: 1_000 },
        );
        const results: (Promise<string> | undefined)[] = [];
        for (const [item, pause] of items) {
          if (pause) await new Promise((resolve) => setImmediate(resolve));
          results.push(commit.add(item));
        }
        assert.deepEqual(
          await Promise.all(results),
          items.map(([item]) => `answer ${item}`),
        );
      },
    ),
  );
});

test('a growing group starts after idle turns, or at the latest when its delay is over', async () => {
  const sizes: number[] = [];
  const commit = async (items: readonly number[]) => {
    sizes.push(items.length);
    return items;
  };
  const slowLimits = { quietTurns: 2, maxMs: 60_000 };
  const group = new GroupCommit<number, number>(commit, { ...options, linger: slowLimits });
  const results: (Promise<number> | undefined)[] = [];
  for (let item = 0; item < 5; item += 1) {
    results.push(group.add(item));
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(await Promise.all(results), [0, 1, 2, 3, 4]);
  assert.deepEqual(sizes, [5]);
  const briefLimits = { quietTurns: Number.POSITIVE_INFINITY, maxMs: 1 };
  const other = new GroupCommit<number, number>(commit, { ...options, linger: briefLimits });
  assert.equal(await other.add(7), 7);
});

test('items added together share a group, although fewer are enough', async () => {
  const groups: number[][] = [];
  const commit = new GroupCommit<number, number>(
    async (items) => {
      groups.push([...items]);
      return items;
    },
    { ...options, enough: 2 },
  );
  const added: (Promise<number> | undefined)[] = [];
  commit.addTogether(() => {
    for (const item of [1, 2, 3, 4, 5]) added.push(commit.add(item));
  });
  assert.deepEqual(groups, [[1, 2, 3, 4, 5]], 'it starts before the turn ends');
  await Promise.all(added);
});

test('after adding together failed, items start a group once there are enough', async () => {
  const groups: number[][] = [];
  const commit = new GroupCommit<number, number>(
    async (items) => {
      groups.push([...items]);
      return items;
    },
    { ...options, enough: 2 },
  );
  assert.throws(() =>
    commit.addTogether(() => {
      throw new Error('failed');
    }),
  );
  const added = [1, 2].map((item) => commit.add(item));
  assert.deepEqual(groups, [[1, 2]]);
  await Promise.all(added);
});

test('items that are added at once have a result or an error each, in order', async () => {
  const commit = new GroupCommit<number, number>(
    async (items) => {
      if (items.includes(3)) throw new Error('failed');
      return items.map((item) => item * 10);
    },
    { ...options, max: 2, concurrency: 1, waiting: 5 },
  );
  const results = await commit.addAll([1, 2, 3, 4, 5, 6]);
  const failed = results.map((result) => result instanceof CommitFailure);
  assert.deepEqual(failed, [false, false, true, true, false, false]);
  assert.deepEqual([results[0], results[1], results[4], results[5]], [10, 20, 50, undefined]);
  assert.deepEqual(await commit.addAll([]), []);
});
