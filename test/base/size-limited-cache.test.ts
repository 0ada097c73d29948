import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SizeLimitedCache } from '../../src/base/database/cache.ts';

test('the least recently used entry is evicted first', () => {
  const memory = new SizeLimitedCache<string>(10);
  memory.set('a', 'A', 4);
  memory.set('b', 'B', 4);
  assert.equal(memory.get('a'), 'A');
  memory.set('c', 'C', 4);
  assert.equal(memory.get('b'), undefined);
  assert.equal(memory.get('a'), 'A');
  assert.equal(memory.get('c'), 'C');
});

test('a value larger than the limit isn’t stored and evicts nothing', () => {
  const memory = new SizeLimitedCache<string>(10);
  memory.set('a', 'A', 4);
  memory.set('huge', 'H', 11);
  assert.equal(memory.get('huge'), undefined);
  assert.equal(memory.get('a'), 'A');
});

test('the total size is accurate and within the limit', () => {
  const step = fc.record({
    key: fc.constantFrom('a', 'b', 'c', 'd'),
    size: fc.integer({ min: 1, max: 12 }),
  });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const memory = new SizeLimitedCache<number>(20);
      const sizes = new Map<string, number>();
      for (const { key, size } of steps) {
        memory.set(key, size, size);
        sizes.set(key, size);
        assert.ok(memory.size <= 20);
        assert.equal(memory.get(key), size);
      }
      let total = 0;
      for (const key of sizes.keys()) total += memory.get(key) ?? 0;
      assert.equal(memory.size, total);
    }),
  );
});
