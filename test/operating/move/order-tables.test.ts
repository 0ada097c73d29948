import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderTables } from '../../../src/operating/move/move-catalog-store.ts';

test('a table comes after those it refers to, itself and unknown ones aside', () => {
  const ordered = orderTables(
    ['key', 'person', 'account', 'use'],
    [
      ['key', 'account'],
      ['key', 'person'],
      ['use', 'key'],
      ['person', 'person'],
      ['account', 'elsewhere'],
    ],
  );
  assert.deepEqual(ordered, ['person', 'account', 'key', 'use']);
});

test('tables that refer to each other in a circle are an error', () => {
  const circle = [
    ['a', 'b'],
    ['b', 'a'],
  ] as const;
  assert.throws(() => orderTables(['a', 'b', 'c'], circle), /a, b refer to each other/);
});
