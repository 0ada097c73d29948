import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findInvalidText } from '../../../src/sending/submission/find-invalid-text.ts';

const nested = (levels: number, inside: unknown): unknown => {
  let value = inside;
  for (let level = 0; level < levels; level++) value = { a: value };
  return value;
};

test('every invalid text in a value is reported by its path, in order', () => {
  assert.deepEqual(findInvalidText({ a: ['x', '\0', { 'b\0': '\ud800' }], c: 'é', d: '\udc00' }), [
    { field: 'a[1]', reason: 'contains a NUL character' },
    { field: 'a[2].b\u{fffd}', reason: 'its name contains a NUL character' },
    { field: 'a[2].b\u{fffd}', reason: 'contains an unpaired surrogate' },
    { field: 'd', reason: 'contains an unpaired surrogate' },
  ]);
});

test('a value with 64 levels is checked completely; a deeper one is rejected', () => {
  assert.deepEqual(findInvalidText(nested(64, 1)), []);
  assert.equal(findInvalidText(nested(64, '\0'))[0]?.reason, 'contains a NUL character');
  for (const deep of [nested(65, 1), JSON.parse('['.repeat(500_000) + ']'.repeat(500_000))])
    assert.equal(findInvalidText(deep)[0]?.reason, 'is nested deeper than 64 levels');
});

test('client-chosen names can’t make a response long, however often they occur', () => {
  const long = 'n'.repeat(100_000);
  const found = findInvalidText({ [long]: Array.from({ length: 10_000 }, () => '\0') });
  assert.equal(found.length, 10_000);
  for (const { field } of found) assert.ok(field.length <= 301 && field.isWellFormed(), field);
  assert.match(String(found.at(-1)?.field), /^…n+\[9999\]$/);
});

test('no more paths are reported than requested', () => {
  assert.equal(findInvalidText(['\0', '\0', { a: '\0' }], 2).length, 2);
});

test('a value without invalid text is never rejected, and an invalid one never passes', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), fc.boolean(), (value, bad) => {
      const clean = JSON.parse(JSON.stringify(value).replaceAll(/\\u(0000|d[89a-f]..)/g, ''));
      const found = findInvalidText({ clean, more: [{ last: bad ? '\0' : '' }] });
      assert.deepEqual(
        found.map(({ field }) => field),
        bad ? ['more[0].last'] : [],
      );
    }),
  );
});
