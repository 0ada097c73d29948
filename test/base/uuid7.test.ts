import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validate, version } from 'uuid';
import { makeUuid7, setIdClockOffset } from '../../src/base/values/uuid7.ts';

test('RFC 9562 5.7: ids are version 7, start with the time, ascend and never repeat', () => {
  // The services of other files in this process may have corrected its clock.
  setIdClockOffset(0);
  const before = Date.now();
  const ids = Array.from({ length: 50_000 }, makeUuid7);
  const after = Date.now();
  assert.deepEqual(ids.toSorted(), ids);
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) {
    if (!validate(id) || version(id) !== 7) assert.fail(id);
    const time = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
    // Within a busy millisecond the count can run out; the time then runs ahead a little.
    if (time < before || time > after + 50) assert.fail(`${id} at ${before}`);
  }
});

test('the random parts of ids are independent', () => {
  const tails = Array.from({ length: 20_000 }, () => makeUuid7().slice(19));
  assert.equal(new Set(tails).size, tails.length);
  for (let place = 0; place < 17; place += 1) {
    const digits = new Set(tails.map((tail) => tail.charAt(place)));
    const expected = place === 0 ? 4 : place === 4 ? 1 : 16;
    assert.equal(digits.size, expected, `place ${place}`);
  }
});
