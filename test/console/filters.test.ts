import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readReportFilters } from '../../console/src/report/report-filters.ts';
import { readSuppressionFilters } from '../../console/src/suppression/suppression-filters.ts';

test('a report reads only valid choices from the URL, and defaults are omitted from it', () => {
  const chosen = { days: 7, group: 'day', compare: true };
  assert.deepEqual(readReportFilters(chosen), chosen);
  assert.deepEqual(readReportFilters({ days: 30, group: 'template', compare: false }), {});
  assert.deepEqual(readReportFilters({ days: 8, group: 'hour', compare: 'yes', more: 1 }), {});
});

test('the suppressions page reads only valid filters from the URL', () => {
  const chosen = { contains: 'zoe', reason: 'complaint' };
  assert.deepEqual(readSuppressionFilters(chosen), chosen);
  assert.deepEqual(readSuppressionFilters({ contains: 42 }), { contains: '42' });
  assert.deepEqual(readSuppressionFilters({ contains: '', reason: 'mood', more: 1 }), {});
});
