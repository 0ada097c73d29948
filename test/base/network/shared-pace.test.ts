import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedPace } from '../../../src/base/network/smtp-session-limits.ts';

const mebibyte = 1_024 ** 2;

/** How much a group reads in ten seconds that reads whatever it can, beside others that do the same. */
function readAll(groups: readonly string[]): ReadonlyMap<string, number> {
  const pace = new SharedPace(32 * mebibyte);
  const read = new Map(groups.map((group) => [group, 0]));
  const next = new Map(groups.map((group) => [group, 0]));
  for (let now = 0; now < 10_000; now += 1)
    for (const group of groups)
      while ((next.get(group) ?? 0) <= now) {
        read.set(group, (read.get(group) ?? 0) + 65_536);
        const waitMs = pace.take(group, 65_536, now);
        if (waitMs > 0) next.set(group, now + waitMs);
      }
  return read;
}

test('a group that is alone reads at the whole pace', () => {
  const rate = (readAll(['one']).get('one') ?? 0) / 10 / mebibyte;
  assert.ok(rate > 28 && rate < 33, String(rate));
});

test('groups share the pace evenly', () => {
  for (const [group, bytes] of readAll(['one', 'two', 'three', 'four'])) {
    const rate = bytes / 10 / mebibyte;
    assert.ok(rate > 7 && rate < 9, `${group}: ${rate}`);
  }
});

test('a usual message never waits, not even beside those that read whatever they can', () => {
  const pace = new SharedPace(32 * mebibyte);
  for (let now = 0; now < 10_000; now += 1) {
    for (const group of ['one', 'two', 'three']) pace.take(group, 65_536, now);
    if (now % 50 === 0) assert.equal(pace.take('usual', 10_000, now), 0);
  }
});

test('tiny chunks cost what they make, so they come slowly', () => {
  const pace = new SharedPace(32 * mebibyte);
  let taken = 0;
  while (pace.take('one', 1, 0) < 1_000) taken += 1;
  assert.ok(taken < 40_000, String(taken));
});
