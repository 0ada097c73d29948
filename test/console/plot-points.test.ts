import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { hourZone, niceAxisMax, plotPoints } from '../../console/src/report/plot-points.ts';
import { figureOf } from '../../console/src/report/report-figures.ts';

const counts = {
  accepted: 10,
  delivered: 7,
  bounced_hard: 1,
  bounced_soft: 1,
  deferred: 0,
  expired: 0,
  failed: 0,
  uncertain: 0,
  canceled: 0,
  complained: 0,
  unsubscribed: 0,
  opened_people: 5,
  opened_people_unique: 3,
  opened_machines: 0,
  opened_machines_unique: 0,
  clicked_people: 0,
  clicked_people_unique: 0,
  clicked_machines: 0,
  clicked_machines_unique: 0,
};

const local = (day: number) => new Date(2026, 2, day).toISOString();

test('a canceled message is not counted as undelivered', () => {
  assert.equal(figureOf('open', counts), 1);
  assert.equal(figureOf('open', { ...counts, canceled: 1 }), 0);
});

test('days without messages are included, and messages neither delivered nor bounced count as open', () => {
  const points = plotPoints(
    [{ key: '2026-03-28T00:00', counts, latency: null, linkWait: null }],
    { from: local(26), until: local(31) },
    'day',
  );
  assert.deepEqual(
    points.map(({ at, delivered }) => [at.getDate(), delivered]),
    [
      [26, 0],
      [27, 0],
      [28, 7],
      [29, 0],
      [30, 0],
    ],
  );
  const { delivered, bounced, open, opened } = points[2] ?? assert.fail();
  assert.deepEqual(
    { delivered, bounced, open, opened },
    { delivered: 7, bounced: 2, open: 1, opened: 3 },
  );
});

/** The key of the hour of a report that starts at a time. */
function hourKey(at: Date, offset: number): string {
  return new Date(at.getTime() + offset * 60_000).toISOString().slice(0, 16);
}

for (const [place, from, hours] of [
  ['a day', new Date(2026, 2, 28), 24],
  ['the day in Berlin on which clocks go back', new Date('2026-10-25T00:00+02:00'), 25],
  ['a day in Kolkata', new Date('2026-10-25T00:00+05:30'), 24],
  ['a day in St. John’s', new Date('2026-12-25T00:00-03:30'), 24],
] as const)
  test(`each hour of ${place} has a bar of its own`, () => {
    const until = new Date(from.getTime() + hours * 3_600_000);
    const period = { from: from.toISOString(), until: until.toISOString() };
    const { offset } = hourZone(period);
    const rows = Array.from({ length: hours }, (_, hour) => ({
      key: hourKey(new Date(from.getTime() + hour * 3_600_000), offset),
      counts: { ...counts, delivered: hour },
      latency: null,
      linkWait: null,
    }));
    assert.deepEqual(
      plotPoints(rows, period, 'hour').map(({ delivered }) => delivered),
      rows.map((_, hour) => hour),
    );
    assert.ok(rows.every(({ key }) => key.endsWith(':00')));
  });

test('the top of a plot reaches every value and leaves at most a third of the plot empty', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e9 }), (value) => {
      const top = niceAxisMax(value);
      assert.ok(top >= value && top % 4 === 0);
      assert.ok(top <= Math.max(8, value * 1.5), `${top}`);
    }),
  );
});
