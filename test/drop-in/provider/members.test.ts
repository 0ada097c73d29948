import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { Fault, type FaultDetail } from '../../../src/base/values/errors.ts';
import { describeError } from '../../../src/drop-in/provider/drop-in-errors.ts';
import { namesOf, pascal } from '../../../src/drop-in/provider/mail.ts';
import { MemberTable } from '../../../src/drop-in/provider/members.ts';
import { readNumber } from '../../../src/drop-in/provider/place.ts';
import { mapped, refused, supported } from '../../support/body-members.ts';

const table = new MemberTable({
  to: supported(Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 2 })])),
  tag: mapped(Type.String({ maxLength: 3 }), 'becomes an attribute'),
  topic: refused('isn’t supported, because there are no topics'),
});

function problemsOf(value: unknown, place?: string): string[] {
  try {
    table.read(value, place);
    return [];
  } catch (error) {
    assert.ok(error instanceof Fault);
    assert.equal(error.code, 'VALIDATION_FAILED');
    return error.details.map(({ field, reason }) => `${field} ${reason}`);
  }
}

test('members that are known, or null, are taken', () => {
  assert.deepEqual(
    { ...table.read({ to: 'a', tag: null, topic: null, other: undefined }) },
    { to: 'a' },
  );
  assert.deepEqual(
    { ...table.read({ to: ['a', 'b'], tag: 'abc' }) },
    { to: ['a', 'b'], tag: 'abc' },
  );
});

test('every member that is unknown, refused or malformed is named at its place', () => {
  assert.deepEqual(problemsOf({ other: 1, topic: 't', tag: 'abcd', to: 5 }, 'items[0].'), [
    'items[0].other isn’t known to Signalpost; remove it',
    'items[0].topic isn’t supported, because there are no topics',
    'items[0].to must be a string or must be an array',
    'items[0].tag must not be longer than 3 characters',
  ]);
  assert.deepEqual(problemsOf([]), [' must be an object']);
  assert.deepEqual(problemsOf('x', 'tags[1].'), ['tags[1] must be an object']);
});

test('names of built-in properties are unknown members like others', () => {
  const value = JSON.parse('{"__proto__":{"to":"x"},"constructor":1}');
  assert.deepEqual(problemsOf(value), [
    '__proto__ isn’t known to Signalpost; remove it',
    'constructor isn’t known to Signalpost; remove it',
  ]);
});

test('a member in one line is supported, mapped or refused, and lists name their items', () => {
  const items = new MemberTable({
    name: 'text',
    value: 'short: becomes: a value',
    size: 'refused: isn’t supported',
  });
  assert.deepEqual(
    Object.values(items.members).map(({ treatment, note }) => [treatment, note]),
    [
      ['supported', ''],
      ['mapped', 'becomes: a value'],
      ['refused', 'isn’t supported'],
    ],
  );
  const details: FaultDetail[] = [];
  const list = [{ name: 'a', value: '1' }, { value: '2' }, { name: 'a', value: '3' }];
  const lists = new MemberTable({
    items: items.asList({ required: ['name'] }),
    pairs: items.asPairs(),
  });
  const found = lists.read({ items: list, pairs: list }, '', details);
  assert.deepEqual(
    found.items?.map((one) => ({ ...one })),
    list,
  );
  assert.deepEqual(found.pairs, { a: '3', '': '2' });
  assert.deepEqual(
    details.map(({ field, reason }) => `${field} ${reason}`),
    ['items[1].name is required', 'pairs[1].name is required', 'pairs[2].name is given twice'],
  );
  assert.equal(lists.read({}, '', details).items, undefined);
  assert.throws(() => lists.read({ items: [{ size: 1 }] }, '', details), Fault);
  assert.deepEqual(
    [null, '', '7'].map((text) => readNumber(['limit', text], [1, 7], 5)),
    [5, 5, 7],
  );
  for (const text of ['0', '8', '-1', '1.5', 'x', '1e0'])
    assert.throws(() => readNumber(['limit', text], [1, 7], 5), Fault, text);
  const names = namesOf({ from: 'Sender', tag: 'Group' }, pascal);
  assert.equal(names['envelope.fromDisplayName'], 'Sender');
  assert.equal(names['metadata.tagList[0]'], 'Group');
  assert.equal(names['content.subjectLine'], 'Subject');
});

test('errors of a send name the provider’s members', () => {
  const names = {
    envelope: 'recipients',
    'envelope.ccAddressList': 'cc',
    'envelope.fromAddress': 'from',
    'content.personalizationDataMap': 'variables',
  };
  const details = [
    'envelope.ccAddressList[1]',
    'envelope.fromAddress',
    'envelope.fromAddressX',
    'content.personalizationDataMap.First Name',
    'content.html',
  ].map((field) => ({ field, reason: 'is wrong' }));
  const error = describeError(new Fault('VALIDATION_FAILED', { details }), names);
  assert.deepEqual(
    error.details.map(({ field }) => field),
    ['cc[1]', 'from', 'recipients.fromAddressX', 'variables.First Name', 'content.html'],
  );
  assert.match(error.message, /^Cc\[1\] is wrong; from is wrong; /);
  assert.deepEqual([error.kind, error.status], ['VALIDATION_FAILED', 400]);
});

test('an account that isn’t the key’s, and a permission that it lacks, are told apart', () => {
  const foreign = new Fault('INVALID_ID', { details: [{ field: 'accountId', reason: 'no' }] });
  assert.equal(describeError(foreign, {}).kind, 'UNAUTHORIZED');
  const lacking = new Fault('UNAUTHORIZED', { challenge: 'insufficient_scope' });
  assert.equal(describeError(lacking, {}).kind, 'MISSING_PERMISSION');
  assert.equal(describeError(new Error('secret'), {}).message, 'Internal Server Error.');
});
