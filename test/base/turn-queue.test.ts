import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atEndOfTurn, TurnQueue } from '../../src/base/fairness/fair-queue.ts';

test('each event loop turn is assigned once, and groups take turns', async () => {
  const queue = new TurnQueue();
  let turn = 0;
  let finished = false;
  const count = (): void => {
    turn += 1;
    if (!finished) setImmediate(count);
  };
  setImmediate(count);
  const assigned: string[] = [];
  const turns = new Set<number>();
  await Promise.all(
    ['a', 'a', 'a', 'b'].map((group) =>
      queue.run(group, () => {
        assigned.push(group);
        turns.add(turn);
      }),
    ),
  );
  finished = true;
  assert.deepEqual(assigned, ['a', 'b', 'a', 'a']);
  assert.equal(turns.size, 4);
});

test('end-of-turn callbacks run before the work of the turn', async () => {
  const queue = new TurnQueue();
  const order: string[] = [];
  const work = queue.run('a', () => order.push('work'));
  atEndOfTurn(() => order.push('due'));
  await work;
  atEndOfTurn(() => order.push('due later'));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(order, ['due', 'work', 'due later']);
});

test('long work is followed by an equally long pause', async () => {
  const queue = new TurnQueue();
  const times: [number, number][] = [];
  const work = (): void => {
    const began = performance.now();
    while (performance.now() < began + 30);
    times.push([began, performance.now()]);
  };
  await Promise.all([queue.run('a', work), queue.run('a', work)]);
  const [first, second] = times;
  assert.ok(first && second && second[0] - first[1] > 25, JSON.stringify(times));
});

test('failing work releases its turn', async () => {
  const queue = new TurnQueue();
  const failing = queue.run('a', () => {
    throw new Error('no');
  });
  const next = queue.run('a', () => 'done');
  await assert.rejects(failing, /no/);
  assert.equal(await next, 'done');
});
