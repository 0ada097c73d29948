import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FaultDetail } from '../../../src/base/values/errors.ts';
import { readTiming } from '../../../src/sending/submission/delivery-timing.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const day = 24 * 60 * 60 * 1_000;
const at = (ms: number): string => new Date(now + ms).toISOString();

function problems(members: Readonly<Record<string, unknown>>): string[] {
  const details: FaultDetail[] = [];
  readTiming(members, () => now, details);
  return details.map(({ field, reason }) => `${field} ${reason}`);
}

test('a send time can be up to 5 minutes in the past and 365 days ahead, to the millisecond', () => {
  assert.deepEqual(problems({ sendAt: at(-5 * 60_000) }), []);
  assert.deepEqual(problems({ sendAt: at(-5 * 60_000 - 1) }), [
    'actions.sendAt is more than 5 minutes in the past; use a later time',
  ]);
  assert.deepEqual(problems({ sendAt: at(365 * day) }), []);
  assert.deepEqual(problems({ sendAt: at(365 * day + 1) }), [
    'actions.sendAt is more than 365 days ahead; use an earlier time',
  ]);
});

test('a deadline must be after now and after the send time', () => {
  assert.deepEqual(problems({ deliverBefore: at(1) }), []);
  assert.deepEqual(problems({ deliverBefore: at(0) }), [
    'actions.deliverBefore is in the past; use a later time',
  ]);
  assert.deepEqual(problems({ sendAt: at(day), deliverBefore: at(day + 1) }), []);
  assert.deepEqual(problems({ sendAt: at(day), deliverBefore: at(day) }), [
    'actions.deliverBefore must be after actions.sendAt; use a later time',
  ]);
});

test('times are RFC 3339 with an offset, and exist', () => {
  for (const good of [
    '2026-03-02t12:00:00z',
    '2026-03-02T12:00:00.123456789+00:00',
    '2026-03-02T23:59:59-11:30',
  ])
    assert.deepEqual(problems({ sendAt: good }), [], good);
  for (const bad of [
    '2026-03-02',
    '2026-03-02T12:00:00',
    '2026-03-02 12:00:00Z',
    '2026-02-30T12:00:00Z',
    '2026-03-02T24:00:00Z',
    '2026-03-02T12:00Z',
    'tomorrow',
    '1772539200000',
  ]) {
    const [problem = ''] = problems({ sendAt: bad });
    assert.match(problem, /^actions.sendAt must be an RFC 3339 time with an offset/, bad);
  }
});

test('empty strings are absent', () => {
  const details: FaultDetail[] = [];
  const members = { sendAt: '', deliverBefore: '', templateVersion: '' };
  assert.equal(
    readTiming(members, () => now, details),
    undefined,
  );
  assert.deepEqual(details, []);
});
