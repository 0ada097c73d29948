import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReportCounts } from '../../console/src/api/management.generated.ts';
import { formatShare } from '../../console/src/format/format-number.ts';
import { changeOf } from '../../console/src/report/report-figures.ts';

const countsOf = (accepted: number, delivered: number) =>
  ({ accepted, delivered, bounced_hard: 0, bounced_soft: 0 }) as ReportCounts;

test('messages change by percent, and shares of them by percentage points', () => {
  const [now, before] = [countsOf(120, 90), countsOf(100, 80)];
  const accepted = changeOf('accepted', now, before) ?? assert.fail();
  assert.deepEqual(
    [accepted.format(accepted.difference), accepted.before, accepted.better],
    ['20%', '100', undefined],
  );
  const delivered = changeOf('delivered', now, before) ?? assert.fail();
  assert.deepEqual(
    [delivered.format(delivered.difference), delivered.before, delivered.better],
    ['-5 pt', '80.0%', 'more'],
  );
});

test('nothing is compared with a period without messages', () => {
  for (const before of [undefined, countsOf(0, 0)])
    for (const figure of ['accepted', 'delivered'] as const)
      assert.equal(changeOf(figure, countsOf(1_714, 1_700), before), undefined);
  assert.equal(changeOf('delivered', countsOf(0, 0), countsOf(10, 10)), undefined);
});

test('shares have one decimal, except for none and all', () => {
  assert.deepEqual(
    [
      formatShare(0, 80),
      formatShare(1, 100),
      formatShare(1, 80),
      formatShare(80, 80),
      formatShare(0, 0),
    ],
    ['0%', '1.0%', '1.3%', '100%', '–'],
  );
});
