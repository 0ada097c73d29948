import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FairQueue } from '../../src/base/fairness/fair-queue.ts';

test('groups take turns, and each group is first in, first out', () => {
  const line = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) line.add(item.charAt(0), item);
  const order = Array.from({ length: 6 }, () => line.next());
  assert.deepEqual(order, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  assert.equal(line.next(), undefined);
});

test('every item leaves the queue exactly once', () => {
  const step = fc.record({ group: fc.constantFrom('a', 'b', 'c'), item: fc.nat(20) });
  fc.assert(
    fc.property(fc.array(step), fc.array(step), (added, left) => {
      const line = new FairQueue<string>();
      const waiting = new Set<string>();
      for (const { group, item } of added) {
        const name = `${group}${item}`;
        if (waiting.has(name)) continue;
        waiting.add(name);
        line.add(group, name);
      }
      for (const { group, item } of left) {
        line.delete(group, `${group}${item}`);
        waiting.delete(`${group}${item}`);
      }
      assert.equal(line.size, waiting.size);
      for (let item = line.next(); item !== undefined; item = line.next())
        assert.ok(waiting.delete(item));
      assert.equal(waiting.size, 0);
      assert.equal(line.size, 0);
    }),
  );
});
