import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDistance } from '../../console/src/format/format-time.ts';

const now = new Date(2026, 10, 26, 2, 10).getTime();
const ahead = (ms: number): string => formatDistance(new Date(now + ms).toISOString(), now);
const minute = 60_000;
const hour = 60 * minute;

test('a distance counts calendar days from 24 hours on', () => {
  assert.equal(ahead(48 * hour - minute), 'in 2 days');
  assert.equal(ahead(24 * hour), 'tomorrow');
  assert.equal(ahead(9 * 24 * hour - 30_000), 'in 9 days');
  assert.equal(ahead(-24 * hour), 'yesterday');
  assert.equal(ahead(-27 * hour), '2 days ago');
});

test('a shorter distance is rounded to its unit', () => {
  assert.equal(ahead(24 * hour - minute), 'in 24 hours');
  assert.equal(ahead(hour + 50 * minute), 'in 2 hours');
  assert.equal(ahead(59 * minute + 40_000), 'in 1 hour');
  assert.equal(ahead(31 * minute), 'in 31 minutes');
  assert.equal(ahead(-90_500), '2 minutes ago');
  assert.equal(ahead(400), 'now');
});
