import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAge, formatFullTime } from '../../../src/sending/inbox/format-time.ts';

const here = new Intl.DateTimeFormat().resolvedOptions().timeZone;

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
  for (const [time, said] of ages) assert.equal(formatAge(time, now, here), said, time.toString());
  const midnight = new Date(2026, 7, 14, 0, 10);
  assert.equal(formatAge(new Date(2026, 7, 13, 23, 30), midnight, here), '40 min');
  assert.equal(formatAge(new Date(2026, 7, 13, 22, 30), midnight, here), '1 h');
});

test('days and years are those of the reader’s time zone', () => {
  const at = (time: string, zone: string) =>
    formatAge(new Date(time), new Date('2027-01-01T14:00:00Z'), zone);
  assert.equal(at('2026-12-31T11:30:00Z', 'Asia/Tokyo'), 'yesterday');
  assert.equal(at('2026-12-31T16:00:00Z', 'Asia/Tokyo'), '22 h');
  assert.equal(at('2026-12-31T16:00:00Z', 'America/New_York'), 'yesterday');
  assert.equal(at('2026-12-30T16:00:00Z', 'Asia/Tokyo'), 'yesterday');
  assert.equal(at('2026-12-30T14:00:00Z', 'Asia/Tokyo'), 'Dec 30, 2026');
  assert.equal(at('2026-12-29T16:00:00Z', 'Pacific/Kiritimati'), 'Dec 30, 2026');
});

test('the exact time has day, second and zone', () => {
  assert.match(
    formatFullTime(new Date('2026-08-14T15:30:05Z'), 'America/New_York'),
    /^Fri, Aug 14, 2026, 11:30:05\sAM EDT$/,
  );
});
