import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccountId } from '../../../src/base/values/ids.ts';
import { AccountTurns } from '../../../src/outcomes/webhook/account-turns.ts';

const [flooder, other] = ['flooder', 'other'] as AccountId[] as [AccountId, AccountId];

/** Turns whose pieces run until they are ended, and what they began. */
function openTurns(work: Record<string, number>, maxPerKey = 2) {
  const begun: string[] = [];
  const errors: unknown[] = [];
  const running: { key: string; end(): void }[] = [];
  const turns = new AccountTurns({
    policy: { what: 'pieces', total: 6, share: 2, reserve: 2, retryAfter: 1 },
    maxPerKey,
    claim: async (_accountId, key) => {
      const left = work[key] ?? 0;
      if (left === -1) throw new Error(`${key} is broken`);
      if (left === 0) return undefined;
      work[key] = left - 1;
      begun.push(key);
      return () => new Promise((resolve) => running.push({ key, end: resolve }));
    },
    onError: (error) => errors.push(error),
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const end = async (key: string) => {
    const index = running.findIndex((piece) => piece.key === key);
    running.splice(index, 1)[0]?.end();
    await settle();
  };
  return { turns, begun, errors, running, settle, end };
}

test('an account alone gets all but a reserve, a key its part of it, and another account finds room', async () => {
  const { turns, begun, running, settle, end } = openTurns({ a: 100, b: 100, c: 100, x: 1 });
  for (const key of ['a', 'b', 'c']) turns.add(flooder, key);
  await settle();
  assert.deepEqual(running.map(({ key }) => key).sort(), ['a', 'a', 'b', 'c']);
  turns.add(other, 'x');
  await settle();
  assert.equal(begun.at(-1), 'x');
  await end('a');
  await end('b');
  await end('x');
  assert.deepEqual([...new Set(begun)].sort(), ['a', 'b', 'c', 'x']);
  const stopped = turns.stop();
  for (const { key } of [...running]) await end(key);
  await stopped;
  turns.add(flooder, 'a');
  await settle();
  assert.equal(running.length, 0);
});

test('a key that fails pauses alone', async () => {
  const { turns, begun, errors, settle, end } = openTurns({ a: -1, b: 1 });
  turns.add(flooder, 'a');
  turns.add(flooder, 'b');
  await settle();
  turns.add(flooder, 'a');
  await settle();
  assert.equal(errors.length, 1);
  assert.deepEqual(begun, ['b']);
  await end('b');
  await turns.stop();
});

test('what a claim didn’t find because a piece ran is claimed when it ends', async () => {
  const work: Record<string, number> = { a: 1 };
  const { turns, begun, settle, end } = openTurns(work);
  turns.add(flooder, 'a');
  await settle();
  work.a = 1;
  await end('a');
  assert.deepEqual(begun, ['a', 'a']);
  await end('a');
  await turns.stop();
});
