import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atEndOfTurn } from '../../src/foundation/end-of-turn.ts';
import { TurnQueue } from '../../src/foundation/turn-queue.ts';

test('each turn of the event loop is given once, and groups take them by turns', async () => {
  const queue = new TurnQueue();
  let turn = 0;
  let over = false;
  const count = (): void => {
    turn += 1;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  const given: string[] = [];
  const turns = new Set<number>();
  await Promise.all(
    ['a', 'a', 'a', 'b'].map(async (group) => {
      await queue.next(group);
      given.push(group);
      turns.add(turn);
    }),
  );
  over = true;
  assert.deepEqual(given, ['a', 'b', 'a', 'a']);
  assert.equal(turns.size, 4);
});

test('what is due at the end of a turn goes before the work that the turn is given to', async () => {
  const queue = new TurnQueue();
  const order: string[] = [];
  const work = queue.next('a').then(() => order.push('work'));
  atEndOfTurn(() => order.push('due'));
  await work;
  atEndOfTurn(() => order.push('due later'));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(order, ['due', 'work', 'due later']);
});
