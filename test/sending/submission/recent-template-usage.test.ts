import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccountId, TemplateId } from '../../../src/base/values/ids.ts';
import type { GivenValues } from '../../../src/content/template/field-value.ts';
import { RecentTemplateUsage } from '../../../src/sending/submission/recent-template-usage.ts';
import { bodyWith } from '../../support/send-client.ts';
import { openSharedShop } from '../../support/test-shop.ts';

const minute = 60_000;
const account = '1' as AccountId;
const template = 't' as TemplateId;
const override = { text: '', parsed: [] } as never;

function request(
  values: Record<string, string>,
  own: { subject?: boolean; preview?: boolean } = {},
) {
  return {
    values,
    subjectLine: own.subject ? override : undefined,
    previewText: own.preview ? override : undefined,
  };
}

/** As if a message with this usage had been committed, whether or not it was new. */
function store(calls: RecentTemplateUsage, input: ReturnType<typeof request>): void {
  const call = new RecentTemplateUsage().findNewUsage(account, template, input);
  assert.ok(call !== undefined);
  calls.record(call);
}

test('a usage with lists is new where the names in its items are', () => {
  const calls = new RecentTemplateUsage(() => 0);
  const ask = (values: GivenValues) =>
    calls.findNewUsage(account, template, { ...request({}), values, structured: true });
  const items = (...names: string[][]) => ({
    Items: names.map((own) => Object.fromEntries(own.map((name) => [name, '']))),
  });
  const call = ask(items(['A', 'B'], ['A']));
  assert.ok(call !== undefined);
  calls.record(call);
  assert.equal(ask(items(['A'], ['C', 'A'], ['A', 'B'])), undefined);
  for (const other of [items(['A', 'B']), items([]), items(), { Items: { A: '' } }])
    assert.ok(ask(other) !== undefined);
  assert.ok(calls.findNewUsage(account, template, request({ Items: '' })) !== undefined);
});

test('a call is new until a message with it is stored, and again ten minutes later', () => {
  let now = 5;
  const calls = new RecentTemplateUsage(() => now);
  const call = calls.findNewUsage(account, template, request({ A: '1', B: '2' }));
  assert.ok(call !== undefined);
  assert.deepEqual(calls.findNewUsage(account, template, request({ A: '3', B: '4' })), call);
  calls.record(call);
  assert.equal(calls.findNewUsage(account, template, request({ A: '5', B: '6' })), undefined);
  now += 10 * minute - 1;
  assert.equal(calls.findNewUsage(account, template, request({ A: '5', B: '6' })), undefined);
  now += 1;
  assert.deepEqual(calls.findNewUsage(account, template, request({ A: '5', B: '6' })), call);
});

test('usages that differ in any member are distinguished', () => {
  const calls = new RecentTemplateUsage();
  const different = [
    ['1', 't', request({})],
    ['1', 't', request({ A: '' })],
    ['1', 't', request({ A: '', B: '' })],
    ['1', 't', request({ 'A","B': '' })],
    ['1', 't', request({ 'A,B': '' })],
    ['1', 't', request({ A: '' }, { subject: true })],
    ['1', 't', request({ A: '' }, { preview: true })],
    ['1', 't', request({ A: '' }, { subject: true, preview: true })],
    ['1', 'u', request({ A: '' })],
    ['2', 't', request({ A: '' })],
  ] as const;
  for (const [accountId, templateId, input] of different) {
    const call = calls.findNewUsage(accountId as AccountId, templateId as TemplateId, input);
    assert.ok(call !== undefined);
    calls.record(call);
  }
});

test('a usage is known regardless of which one was stored last', () => {
  const calls = new RecentTemplateUsage();
  const isNew = (values: Record<string, string>, own = {}) =>
    calls.findNewUsage(account, template, request(values, own)) !== undefined;
  store(calls, request({ A: '', B: '' }));
  store(calls, request({ A: '' }, { subject: true }));
  assert.equal(isNew({ A: '', B: '' }), false);
  assert.equal(isNew({ A: '' }, { subject: true }), false);
  assert.equal(isNew({ A: '' }), true);
  assert.equal(isNew({ A: '', B: '', C: '' }, { subject: true }), true);
  assert.equal(isNew({}, { subject: true }), true);
  assert.equal(isNew({ A: '' }, { subject: true, preview: true }), true);
});

test('a usage with names too long to be cached is always new', () => {
  const calls = new RecentTemplateUsage();
  for (const [length, isNew] of [
    [900, false],
    [1_000, true],
  ] as const) {
    const input = request({ ['x'.repeat(length)]: '' });
    store(calls, input);
    assert.equal(calls.findNewUsage(account, template, input) !== undefined, isNew);
  }
});

test('when the cache is full, the usage stored first is evicted', () => {
  const calls = new RecentTemplateUsage(() => 0, 2);
  const isNew = (name: string) =>
    calls.findNewUsage(account, template, request({ [name]: '' })) !== undefined;
  for (const name of ['A', 'B', 'A', 'C']) store(calls, request({ [name]: '' }));
  assert.deepEqual([isNew('A'), isNew('B'), isNew('C')], [false, true, false]);
});

test('a stored message shows whether its usage is new; a rejected one leaves it new', async () => {
  const { database, shop, client } = await openSharedShop({ worker: false });
  const send = async (changes: Parameters<typeof bodyWith>[0], status = 200) => {
    const response = await client.send({ body: bodyWith(changes) });
    assert.equal(response.status, status, response.text);
  };
  await send({ envelope: { toAddress: 'suppressed@simulator.test' } }, 400);
  await send({});
  await send({});
  await send({ content: { personalizationDataMap: { 'Order Number': '1', Other: '2' } } });
  await send({ content: { personalizationDataMap: { 'Order Number': '1' }, subjectLine: 'Own' } });
  await send({});
  const { rows } = await database.pool.query<{ new_call: boolean }>(
    'select new_call from message where account_id = $1 order by id',
    [shop.id],
  );
  assert.deepEqual(
    rows.map((row) => row.new_call),
    [true, false, true, true, false],
  );
});
