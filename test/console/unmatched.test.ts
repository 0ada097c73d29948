import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { unmatched } from '../../console/src/frame/unmatched.ts';

const words = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 });

test('two lists without their unmatched entries are equal', () => {
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

test('all old entries of a list that only grew are matched', () => {
  fc.assert(
    fc.property(words, words, words, (head, added, tail) => {
      const before = [...head, ...tail];
      assert.ok(unmatched(before, [...head, ...added, ...tail]).every((one) => !one));
    }),
  );
});
