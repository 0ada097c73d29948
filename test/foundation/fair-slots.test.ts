import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Busy } from '../../src/foundation/errors.ts';
import { FairSlots, type Release } from '../../src/foundation/fair-slots.ts';

const limits = {
  what: 'changes',
  slots: 2,
  slotsPerGroup: 1,
  waiting: 6,
  waitingPerGroup: 3,
  timeout: 30_000,
  retryAfter: 7,
} as const;

/** Waits until everything that can start has started. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a group is limited to its share and takes turns with others', async () => {
  const slots = new FairSlots(limits);
  const order: string[] = [];
  const releases: Release[] = [];
  const take = (group: string, name: string): void => {
    void slots.acquire(group).then((release) => {
      order.push(name);
      releases.push(release);
    });
  };
  for (const [group, name] of [
    ['b', 'b1'],
    ['b', 'b2'],
    ['b', 'b3'],
    ['a', 'a1'],
    ['a', 'a2'],
    ['c', 'c1'],
  ] as const)
    take(group, name);
  await settle();
  assert.deepEqual(order, ['b1', 'a1'], 'the second item of b waits although c is not ahead of it');
  releases.shift()?.();
  await settle();
  assert.deepEqual(order, ['b1', 'a1', 'b2']);
  releases.pop()?.();
  await settle();
  assert.equal(order.at(-1), 'c1', 'a holds its share still, and b has just had its turn');
  while (releases.length > 0) {
    releases.pop()?.();
    await settle();
  }
  assert.deepEqual(order.toSorted(), ['a1', 'a2', 'b1', 'b2', 'b3', 'c1']);
});

test('a group with a full queue is rejected immediately, others aren’t', async () => {
  const slots = new FairSlots(limits);
  const waiting = Array.from({ length: 4 }, () => slots.acquire('b'));
  await assert.rejects(slots.acquire('b'), (error: Busy) => {
    assert.ok(error instanceof Busy);
    assert.equal(error.retryAfter, 7);
    assert.equal(error.message, 'Too many changes in progress. Retry in 7 s');
    return true;
  });
  const release = await slots.acquire('a');
  release();
  for (const one of waiting) (await one)();
});

test('callers that wait too long are rejected and leave the queue', async () => {
  const slots = new FairSlots({ ...limits, timeout: 20 });
  const release = await slots.acquire('b');
  await assert.rejects(slots.acquire('b'), Busy);
  release();
  (await slots.acquire('b'))();
});

test('indefinite waiters ignore a full queue and the timeout', async () => {
  const slots = new FairSlots({ ...limits, waitingPerGroup: 0, timeout: 1 });
  const release = await slots.acquire('b');
  const indefinite = slots.acquire('b', true);
  await assert.rejects(slots.acquire('b'), Busy);
  release();
  (await indefinite)();
});

test('work that throws releases its slot', async () => {
  const slots = new FairSlots(limits);
  const fault = new Error('fault');
  await assert.rejects(
    slots.run('b', () => Promise.reject(fault)),
    fault,
  );
  assert.equal(await slots.run('b', async () => 'done'), 'done');
});

test('limits are never exceeded and no slot is lost', async () => {
  const step = fc.oneof(
    fc.record({ take: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ release: fc.nat(10) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const slots = new FairSlots(limits);
      const held: { group: string; release: Release }[] = [];
      let waiting = 0;
      let maxRunning = 0;
      const check = (): void => {
        assert.ok(held.length <= limits.slots);
        assert.equal(new Set(held.map(({ group }) => group)).size, held.length);
        maxRunning = Math.max(maxRunning, waiting);
      };
      for (const one of steps) {
        if ('take' in one) {
          waiting += 1;
          slots.acquire(one.take).then(
            (release) => {
              waiting -= 1;
              held.push({ group: one.take, release });
            },
            () => {
              waiting -= 1;
            },
          );
        } else {
          const [gone] = held.splice(one.release % Math.max(1, held.length), 1);
          gone?.release();
        }
        await settle();
        check();
      }
      assert.ok(maxRunning <= limits.waiting);
      while (held.length > 0) {
        held.shift()?.release();
        await settle();
      }
      assert.equal(waiting, 0, 'everybody had a turn');
    }),
    { numRuns: 200 },
  );
});
