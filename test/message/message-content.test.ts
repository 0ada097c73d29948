import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type MessageContent,
  readContent,
  recipientsOf,
  secretFieldsOf,
} from '../../src/message/message-content.ts';

const content = {
  to: 'a@x.test',
  toName: 'Ann',
  cc: ['b@x.test'],
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

test('recipients are numbered from To, then Cc', () => {
  assert.deepEqual(recipientsOf(content), ['a@x.test', 'b@x.test']);
  assert.deepEqual(recipientsOf({ to: content.to }), ['a@x.test']);
});

test('erased or invalid content is undefined', () => {
  for (const stored of [null, undefined, 'x', [], {}, { to: 'a@x.test' }, { to: 1, from: {} }])
    assert.equal(readContent(stored), undefined);
});

test('erased values are omitted and no longer secret fields', () => {
  const read = readContent({ ...content, values: { name: 'Ann', secret: null } });
  assert.deepEqual(read?.values, { name: 'Ann' });
  assert.equal(read && secretFieldsOf(read, ['secret']), undefined);
  assert.deepEqual(secretFieldsOf(content, ['secret', 'other']), ['secret']);
});
