import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatNumber } from '../../console/src/format/format-number.ts';
import { formatDay, formatDistance, formatTime } from '../../console/src/format/format-time.ts';
import { chooseFormats } from '../../console/src/format/formats.ts';

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

test('dates and numbers are American until a person chooses a region, whatever the machine has', () => {
  const at = new Date(2026, 0, 15, 22, 30).toISOString();
  // The space before PM differs between versions of ICU.
  const seen = () =>
    [formatDay(at), formatTime(at), formatNumber(1_234.5)].map((one) => one.replaceAll(/\s/g, ' '));
  assert.deepEqual(seen(), ['Jan 15, 2026', 'Jan 15, 2026, 10:30:00 PM', '1,234.5']);
  chooseFormats('en-DE');
  assert.deepEqual(seen(), ['15 Jan 2026', '15 Jan 2026, 22:30:00', '1.234,5']);
  chooseFormats('en-IN');
  assert.equal(formatNumber(123_456), '1,23,456');
  chooseFormats('en-US');
});
