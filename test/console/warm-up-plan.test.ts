import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dayOfPlan, warmUpPlan } from '../../console/src/domain/warm-up-plan.ts';
import { defaultWarmUpPlan } from '../../src/sending/delivery/warm-up/warm-up-plan.ts';

test('the console proposes the same plan as the command line', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000 }),
      fc.integer({ min: 1_001, max: 10_000_000 }),
      (first, goal) => {
        assert.deepEqual(warmUpPlan(first, goal), defaultWarmUpPlan(goal, first));
      },
    ),
  );
});

test('a target below the first day gives a one-day plan', () => {
  assert.deepEqual(warmUpPlan(50, 10), [50]);
});

test('a plan uses UTC days', () => {
  const at = (time: string) => dayOfPlan('2026-03-01', Date.parse(time));
  assert.equal(at('2026-02-28T23:59:59Z'), -1);
  assert.equal(at('2026-03-01T00:00:00Z'), 0);
  assert.equal(at('2026-03-02T23:59:59Z'), 1);
});
