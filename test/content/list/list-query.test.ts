import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ListQueryError, parseListQuery } from '../../../src/content/list/list-query.ts';

const defaults = { count: 100, offset: 0, contactLists: true };

test('without parameters, the query asks for the first 100 contact lists', () => {
  assert.deepEqual(parseListQuery({}), defaults);
});

test('names and types are case-insensitive, and empty values mean "not given"', () => {
  assert.deepEqual(parseListQuery({ COUNT: '7', Offset: '3', ListingType: 'contact_list' }), {
    count: 7,
    offset: 3,
    contactLists: true,
  });
  assert.deepEqual(parseListQuery({ count: '', offset: '', listingtype: '' }), defaults);
  assert.equal(parseListQuery({ LISTINGTYPE: 'sent_Message' }).contactLists, false);
});

test('unknown parameters are ignored', () => {
  assert.deepEqual(parseListQuery({ fields: 'name', __proto__: 'x' }), defaults);
});

test('count and offset accept exactly the documented range', () => {
  assert.equal(parseListQuery({ count: '1' }).count, 1);
  assert.equal(parseListQuery({ count: '1000' }).count, 1000);
  assert.equal(parseListQuery({ offset: '2147483647' }).offset, 2_147_483_647);
  for (const query of [
    { count: '0' },
    { count: '1001' },
    { offset: '-1' },
    { offset: '2147483648' },
  ])
    assert.throws(() => parseListQuery(query), ListQueryError);
});

test('a repeated parameter is rejected, even in two spellings', () => {
  assert.throws(() => parseListQuery({ count: ['1', '2'] }), /count is given more than once/);
  assert.throws(() => parseListQuery({ count: '1', Count: '2' }), /count is given more than once/);
});

test('any count is either a number in range or an error that names the parameter', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.integer().map(String)), (count) => {
      try {
        const parsed = parseListQuery({ count });
        assert.ok(Number.isInteger(parsed.count) && parsed.count >= 1 && parsed.count <= 1000);
        assert.ok(count === '' || Number(count) === parsed.count);
      } catch (error) {
        assert.ok(error instanceof ListQueryError);
        assert.match(error.message, /^count must be/);
      }
    }),
  );
});
