import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bccOf,
  type MessageContent,
  readContent,
  recipientsOf,
  secretFieldsOf,
  visibleCc,
} from '../../../src/content/message/message-content.ts';

const content = {
  to: 'a@x.test',
  toName: 'Ann',
  cc: ['b@x.test', 'd@x.test'],
  bccCount: 1,
  suppressedCc: ['c@x.test'],
  from: { address: 's@x.test', name: 'Shop' },
  replyTo: 'r@x.test',
  subjectLine: 'Hello',
  previewText: 'Soon',
  values: { name: 'Ann', secret: 'x' },
  headers: { 'X-Order': 'A-1' },
  attributes: { order: 'A-1' },
} as unknown as MessageContent;

test('content is read as stored', () => {
  const { to, from, values } = content;
  for (const stored of [content, { to, from, values }, { to, from: { address: to }, values }])
    assert.equal(JSON.stringify(readContent(stored)), JSON.stringify(stored));
});

test('recipients are numbered from To, then Cc, then Bcc', () => {
  assert.deepEqual(recipientsOf(content), ['a@x.test', 'b@x.test', 'd@x.test']);
  assert.deepEqual(recipientsOf({ to: content.to }), ['a@x.test']);
});

test('only Cc addresses are visible, and Bcc addresses are the last ones', () => {
  assert.deepEqual([visibleCc(content), bccOf(content)], [['b@x.test'], ['d@x.test']]);
  const cc = content.cc ?? [];
  assert.deepEqual([visibleCc({ cc }), bccOf({ cc })], [cc, []]);
  assert.deepEqual([visibleCc({ cc, bccCount: 2 }), bccOf({ cc, bccCount: 2 })], [[], cc]);
  assert.deepEqual([visibleCc({}), bccOf({})], [[], []]);
});

test('erased or invalid content is undefined', () => {
  for (const stored of [null, undefined, 'x', [], {}, { to: 'a@x.test' }, { to: 1, from: {} }])
    assert.equal(readContent(stored), undefined);
});

test('a stored list or object is read as it was accepted', () => {
  const values = {
    Items: [{ Name: 'Pen', Parts: [{ Sku: '1' }] }, {}],
    Shop: {},
    gone: null,
    odd: 1,
  };
  const { Items, Shop } = values;
  assert.deepEqual(readContent({ ...content, values })?.values, { Items, Shop });
});

test('erased values are omitted and no longer secret fields', () => {
  const read = readContent({ ...content, values: { name: 'Ann', secret: null } });
  assert.deepEqual(read?.values, { name: 'Ann' });
  assert.equal(read && secretFieldsOf(read, ['secret']), undefined);
  assert.deepEqual(secretFieldsOf(content, ['secret', 'other']), ['secret']);
});
