import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawBarChart } from '../../scripts/bar-chart.ts';
import { formatSpread, type RecordedRun, spreadOf } from '../../scripts/benchmark-results.ts';

const run = { topic: 'accept', name: 'accept', case: 'One account' };
const runsWith = (...rates: readonly unknown[]): RecordedRun[] =>
  rates.map((rate) => ({ ...run, rate }));

test('a figure is the median of the runs with their range', () => {
  const formatted = (...rates: readonly unknown[]) => {
    const spread = spreadOf(runsWith(...rates), 'rate');
    return spread && formatSpread(spread, 'rate');
  };
  assert.equal(formatted(9_000), '9,000');
  assert.equal(formatted(9_000, 7_000, 8_000), '8,000 (7,000–9,000)');
  assert.equal(formatted(6_000, 9_000, 7_000, 8_000), '7,500 (6,000–9,000)');
});

test('for two runs, or if only a range was recorded, a figure is the range', () => {
  const spread = { median: undefined, low: 7_000, high: 9_000 };
  assert.deepEqual(spreadOf(runsWith(9_000, 7_000), 'rate'), spread);
  assert.deepEqual(spreadOf(runsWith([7_000, 9_000]), 'rate'), spread);
  assert.equal(formatSpread(spread, 'rate'), '7,000–9,000');
});

test('a figure can be one of the parameters and can be missing', () => {
  const runs = [{ ...run, params: { peak_mib: 526, at: 'saturation' } }];
  assert.deepEqual(spreadOf(runs, 'peak_mib'), { median: 526, low: 526, high: 526 });
  assert.equal(spreadOf(runs, 'at'), undefined);
  assert.equal(spreadOf(runs, 'rate'), undefined);
});

test('a chart has a text description', () => {
  const spread = { median: 8, low: 8, high: 8 };
  const svg = drawBarChart({
    title: 'Bodies < 50 kB',
    unit: 'milliseconds',
    series: ['p99'],
    rows: [{ label: 'idle', bars: [{ series: 0, spread, text: '8' }] }],
    limit: 10,
  });
  assert.match(svg, /<title id="title">Bodies &lt; 50 kB<\/title>/);
  assert.match(svg, /<desc id="desc">Bars in milliseconds\. idle: 8\. The limit is 10\.<\/desc>/);
});
