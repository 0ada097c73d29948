import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { unmatched } from '../../console/src/frame/unmatched.ts';

const words = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 });

test('what is left of two lists without their unmatched entries is the same list', () => {
  fc.assert(
    fc.property(words, words, (first, second) => {
      const [left, right] = [unmatched(first, second), unmatched(second, first)];
      assert.equal(left.filter((one) => !one).length, right.filter((one) => !one).length);
      const kept = first.filter((_, index) => left[index] === false);
      let place = 0;
      for (const word of second) if (word === kept[place]) place += 1;
      assert.equal(place, kept.length, 'a subsequence of the other');
    }),
  );
});

test('a list that only grew has all of its old entries matched', () => {
  fc.assert(
    fc.property(words, words, words, (head, added, tail) => {
      const before = [...head, ...tail];
      assert.ok(unmatched(before, [...head, ...added, ...tail]).every((one) => !one));
    }),
  );
});
