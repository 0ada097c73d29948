import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  initialThrottleState,
  minRate,
  slowDown,
  speedUp,
  type ThrottleState,
} from '../../../src/sending/delivery/shaping/throttle-state.ts';

const limits = { maxRate: 1_000, maxConnections: 20 };

interface Run {
  readonly rates: number[];
  readonly refused: number[];
  readonly sent: number[];
}

/** Simulates `seconds` with a receiver that accepts `limit(second)` messages in each second and rejects the rest. */
function simulate(
  seconds: number,
  limit: (second: number) => number,
  startRate = 10,
  otherTraffic: (second: number) => number = () => 0,
): Run {
  let throttle: ThrottleState = initialThrottleState(startRate, 10, 0);
  const run: Run = { rates: [], refused: [], sent: [] };
  let credit = 0;
  for (let second = 0; second < seconds; second += 1) {
    const start = second * 1_000;
    credit += throttle.rate;
    const sent = Math.floor(credit);
    credit -= sent;
    const allowed = Math.floor(limit(second));
    const refused = Math.max(0, sent + otherTraffic(second) - allowed);
    // The rejections arrive one by one near the end of the second.
    for (let one = 0; one < refused; one += 1)
      throttle = slowDown(throttle, start + 900 + one, start + 890 + one, sent, undefined);
    throttle = speedUp(throttle, start + 1_000, sent, limits);
    run.rates.push(throttle.rate);
    run.sent.push(sent);
    run.refused.push(refused);
  }
  return run;
}

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

for (const limit of [2, 5, 20, 50, 200, 700]) {
  test(`with a receiver limit of ${limit}/s, the rate settles within 10% below it in a minute; later less than 2% are rejected`, () => {
    const run = simulate(600, () => limit);
    for (const [second, rate] of run.rates.slice(60).entries())
      assert.ok(rate > limit * 0.9 && rate < limit * 1.04, `second ${second + 60}: ${rate}`);
    const part = sum(run.refused.slice(60)) / sum(run.sent.slice(60));
    assert.ok(part < 0.02, `${part}`);
  });
}

test('the rate adapts to a limit that drops to a tenth', () => {
  const run = simulate(240, (second) => (second < 60 ? 100 : 10));
  const [last = 0] = run.rates.slice(-1);
  assert.ok(last > 7 && last <= 10.6, `${last}`);
  assert.ok(sum(run.refused.slice(180)) / sum(run.sent.slice(180)) < 0.02);
});

test('occasional bursts do not lower the rate permanently', () => {
  const run = simulate(
    900,
    () => 50,
    10,
    (second) => (second % 17 === 0 ? 6 : 0),
  );
  const settled = run.rates.slice(60);
  assert.ok(sum(settled) / settled.length > 45, `${sum(settled) / settled.length}`);
  assert.ok(sum(run.refused.slice(60)) / sum(run.sent.slice(60)) < 0.02);
});

test('after an outage of minutes, the former rate is back within minutes, with few rejections', () => {
  const run = simulate(900, (second) => (second >= 60 && second < 360 ? 0 : 50));
  assert.ok(sum(run.refused.slice(60, 360)) < 600, `${sum(run.refused.slice(60, 360))}`);
  assert.ok(sum(run.refused.slice(90, 360)) < 40, `${sum(run.refused.slice(90, 360))}`);
  assert.ok(Math.min(...run.rates.slice(840)) > 45, `${run.rates.slice(840)}`);
});

test('the rate grows gradually with a rising limit', () => {
  const run = simulate(3_600, (second) => (second < 60 ? 20 : 200));
  const [last = 0] = run.rates.slice(-1);
  assert.ok(last > 150 && last < 205, `${last}`);
});

test('a destination that never refuses is limited by its profile alone', () => {
  const run = simulate(60, () => Number.POSITIVE_INFINITY);
  assert.equal(run.rates.at(-1), limits.maxRate);
});

test('an unused rate limit does not grow', () => {
  const throttle = initialThrottleState(10, 10, 0);
  assert.equal(speedUp(throttle, 50_000, 2, { ...limits, maxConnections: 10 }), throttle);
});

test('rejections of messages sent before a change do not lower the rate twice', () => {
  const once = slowDown(initialThrottleState(100, 10, 0), 10_000, 9_900, 100, undefined);
  assert.equal(slowDown(once, 10_010, 9_950, 100, undefined), once);
  assert.ok(slowDown(once, 13_000, 12_900, 100, undefined).rate < once.rate);
});

test('a wait named by the receiver is respected, up to ten minutes', () => {
  const throttle = slowDown(initialThrottleState(10, 10, 0), 1_000, 900, 10, 300);
  assert.equal(throttle.blockedUntil, 301_000);
  assert.equal(slowDown(throttle, 2_000, 900, 10, 86_400).blockedUntil, 602_000);
});

test('the rate always stays within its bounds', () => {
  const step = fc.record({
    wait: fc.integer({ min: 0, max: 300_000 }),
    refused: fc.boolean(),
    actual: fc.double({ min: 0, max: 2_000, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let throttle = initialThrottleState(10, 10, 0);
      let now = 0;
      for (const { wait, refused, actual } of steps) {
        now += wait;
        throttle = refused
          ? slowDown(throttle, now, now, actual, undefined)
          : speedUp(throttle, now, actual, limits);
        assert.ok(throttle.rate >= minRate && throttle.rate <= limits.maxRate, `${throttle.rate}`);
        assert.ok(throttle.connections >= 1 && throttle.connections <= limits.maxConnections);
      }
    }),
  );
});
