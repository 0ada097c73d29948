import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAge, formatFullTime } from '../../src/inbox/format-time.ts';

test('an age is as short as possible', () => {
  const now = new Date(2026, 7, 14, 15, 30);
  const ages: [Date, string][] = [
    [new Date(2026, 7, 14, 15, 31), 'now'],
    [new Date(2026, 7, 14, 15, 29, 30), 'now'],
    [new Date(2026, 7, 14, 15, 28), '2 min'],
    [new Date(2026, 7, 14, 14, 31), '59 min'],
    [new Date(2026, 7, 14, 14, 30), '1 h'],
    [new Date(2026, 7, 14, 0, 5), '15 h'],
    [new Date(2026, 7, 13, 23, 30), 'yesterday'],
    [new Date(2026, 7, 13, 1, 0), 'yesterday'],
    [new Date(2026, 7, 12, 23, 0), 'Aug 12'],
    [new Date(2025, 11, 31), 'Dec 31, 2025'],
  ];
  for (const [time, said] of ages) assert.equal(formatAge(time, now), said, time.toString());
  assert.equal(formatAge(new Date(2026, 7, 13, 23, 30), new Date(2026, 7, 14, 0, 10)), '40 min');
  assert.equal(formatAge(new Date(2026, 7, 13, 22, 30), new Date(2026, 7, 14, 0, 10)), '1 h');
});

test('the exact time has day, second and zone', () => {
  assert.match(
    formatFullTime(new Date('2026-08-14T15:30:05Z'), 'America/New_York'),
    /^Fri, Aug 14, 2026, 11:30:05\sAM EDT$/,
  );
});
