import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addKey } from '../../support/api-key.ts';
import { readInbox } from '../../support/inbox-client.ts';
import { publishShopTemplate } from '../../support/shop.ts';
import { openSharedShop } from '../../support/test-shop.ts';

const { database, service, shop, client } = await openSharedShop();
const list = { kind: 'list' } as const;
await publishShopTemplate(database, shop, {
  id: 't-lines',
  sender: 'orders@shop.test',
  source: {
    subject: '{{plural Count "item" "items"}} for {{currency "EUR" Total}}',
    previewText: '',
    html: '<p>{{#Items}}<b>{{Name}}</b>{{#Parts}}<i>{{Sku}}</i>{{/Parts}}{{/Items}}{{#Shop}}{{Street}}{{/Shop}}</p>',
    fields: {
      Items: { ...list, fields: { Parts: { ...list, default: [] } } },
      Shop: { kind: 'object', default: { Street: 'Main' } },
      Later: list,
      Count: { default: '2' },
      Total: { default: '5.00' },
    },
  },
});
await publishShopTemplate(database, shop, {
  id: 't-wide',
  sender: 'orders@shop.test',
  source: {
    subject: 's',
    previewText: '',
    html: `{{#Items}}${'x'.repeat(10_000)}{{Name}}{{/Items}}`,
    fields: { Items: list },
  },
});
const key = await addKey(database, shop.id);

interface Refusal {
  readonly name: unknown;
  readonly details: readonly string[];
}

async function send(
  values: object | string,
  { template = 't-lines', content = {} }: { template?: string; content?: object } = {},
): Promise<'OK' | Refusal> {
  const map = typeof values === 'string' ? values : JSON.stringify(values);
  const rest = JSON.stringify({
    envelope: { toAddress: 'reader@example.test' },
    actions: { trackOpens: false, trackClicks: false },
  });
  const more = Object.entries(content).map(
    ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)},`,
  );
  const body = `${rest.slice(0, -1)},"content":{${more.join('')}"personalizationDataMap":${map}}}`;
  const responses = [
    await client.send({ template, body }),
    await client.send({ template, body, token: key }),
  ];
  const [outcome, same] = responses.map(({ status, body: response }): 'OK' | Refusal =>
    status === 200
      ? 'OK'
      : {
          name: response.errorName,
          details: (response.details as { field: string; reason: string }[]).map(
            ({ field, reason }) =>
              `${field.replace('content.personalizationDataMap.', '')}: ${reason}`,
          ),
        },
  );
  assert.deepEqual(outcome, same, 'a token and a key are answered alike');
  return outcome ?? 'OK';
}

const invalid = (...details: string[]): Refusal => ({ name: 'VALIDATION_FAILED', details });
const pens = (count: number) => Array.from({ length: count }, () => ({ Name: 'Pen' }));

test('a list is accepted, stored and rendered', async () => {
  await client.accept({
    template: 't-lines',
    body: {
      envelope: { toAddress: 'lines@example.test' },
      content: {
        personalizationDataMap: {
          Items: [
            { Name: 'A & B', Parts: [{ Sku: '1' }, { Sku: '2' }] },
            { Name: '<i>', Unused: 'x' },
          ],
          Count: '1',
        },
      },
      actions: { trackOpens: false, trackClicks: false },
    },
  });
  const [mail] = await readInbox(service.url, '?to=lines@example.test&wait=60');
  assert.equal(mail?.subject, 'item for €5.00');
  assert.match(
    mail?.html ?? '',
    /<p><b>A &amp; B<\/b><i>1<\/i><i>2<\/i><b>&lt;i&gt;<\/b>Main<\/p>/,
  );
});

test('a list has at most 500 items, those of lists in its items included', async () => {
  const refused = (reason: string) => invalid(`Items: must not have more than 500 items${reason}`);
  assert.equal(await send({ Items: pens(500) }), 'OK');
  assert.deepEqual(await send({ Items: pens(501) }), refused(''));
  const parts = (count: number) => Array.from({ length: count }, () => ({ Sku: '' }));
  const items = (count: number) => [
    { Name: '', Parts: parts(count) },
    { Name: '', Parts: parts(98) },
  ];
  assert.equal(await send({ Items: items(400) }), 'OK');
  assert.deepEqual(
    await send({ Items: items(401) }),
    refused(', those of lists in its items included'),
  );
});

test('lists and objects have at most 128 KiB of names and values in all', async () => {
  const fill = (bytes: number) => [{ Name: 'é'.repeat((bytes - 4) / 2) }];
  const half = 64 * 1024;
  assert.equal(await send({ Items: fill(half), Later: fill(half) }), 'OK');
  assert.deepEqual(
    await send({ Items: fill(half), Later: fill(half + 2) }),
    invalid(
      'Later: makes lists and objects together larger than 128 KiB; send fewer or shorter values',
    ),
  );
});

test('an item has at most 1,000 members, with names of at most 1,000 characters', async () => {
  const members = (count: number) =>
    Object.fromEntries(Array.from({ length: count - 1 }, (_, index) => [`k${index}`, '']));
  assert.equal(await send({ Items: [{ Name: '', ...members(1_000) }] }), 'OK');
  assert.deepEqual(
    await send({ Items: [{ Name: '', ...members(1_001) }] }),
    invalid('Items[0]: must not have more than 1000 members'),
  );
  assert.equal(await send({ Items: [{ Name: '', ['n'.repeat(1_000)]: '' }] }), 'OK');
  assert.deepEqual(
    await send({ Items: [{ Name: '', ['n'.repeat(1_001)]: '' }] }),
    invalid(`Items[0].${'n'.repeat(100)}: its name must not be longer than 1000 characters`),
  );
});

test('what is not of the declared kind is refused with its place, like any other value', async () => {
  assert.deepEqual(
    await send({
      Items: [{ Name: 1, Parts: {} }, 'x', { Name: [], Parts: [{ Sku: null }] }],
      Shop: [],
      Later: '',
      Count: ['1'],
      Other: [],
      Total: {},
    }),
    invalid(
      'Count: must be a string',
      'Other: must be a string',
      'Total: must be a string',
      'Items[0].Name: must be a string',
      'Items[0].Parts: must be an array',
      'Items[1]: must be an object',
      'Items[2].Name: must be a string',
      'Items[2].Parts[0].Sku: must be a string',
      'Shop: must be an object',
      'Later: must be an array',
    ),
  );
  const { details } = (await send(
    { 'Order Number': [{ a: 'b' }] },
    { template: 't-0001' },
  )) as Refusal;
  assert.deepEqual(details, ['Order Number: must be a string']);
});

test('NUL characters and unpaired surrogates are refused in items, too', async () => {
  assert.deepEqual(
    await send('{"Items":[{"Name":"a\\u0000"}]}'),
    invalid('Items[0].Name: contains a NUL character'),
  );
});

test('each item needs its fields, and an empty list needs none', async () => {
  assert.equal(await send({ Items: [] }), 'OK');
  assert.deepEqual(await send({ Items: [{ Name: '' }, { Parts: [{}] }], Shop: { Street: '' } }), {
    name: 'PERSONALIZATION_FAILURE',
    details: [
      'Items[1].Name: has no value, and the template gives no default',
      'Items[1].Parts[0].Sku: has no value, and the template gives no default',
    ],
  });
  assert.deepEqual(await send({}), {
    name: 'PERSONALIZATION_FAILURE',
    details: ['Items: has no value, and the template gives no default'],
  });
  assert.equal(await send({ Items: [{}], Name: 'for all' }), 'OK');
});

test('of very many missing values the first hundred are named', async () => {
  const refused = (await send({ Items: Array.from({ length: 500 }, () => ({})) })) as Refusal;
  assert.equal(refused.details.length, 101);
  assert.equal(refused.details.at(-1), ': and 400 more problems');
});

test('a value that a helper cannot read is refused by name, unless its part is overridden', async () => {
  const number = 'must be a decimal number, such as 1234.5';
  assert.deepEqual(
    await send({ Items: [], Count: 'two', Total: '1,5' }),
    invalid(`Count: ${number}`, `Total: ${number}`),
  );
  const content = { subjectLine: '{{date "long" Due}}' };
  assert.deepEqual(
    await send({ Items: [], Count: 'two', Due: 'soon' }, { content }),
    invalid('Due: must be a date of ISO 8601, such as 2026-01-31 or 2026-01-31T09:30:00Z'),
  );
  assert.equal(await send({ Items: [], Count: 'two', Due: '2026-01-31' }, { content }), 'OK');
});

test('a subject of the request shows lists by the template, and refuses what it could not show', async () => {
  const content = { subjectLine: '{{#Items}}{{Nick}}{{/Items}}' };
  assert.equal(await send({ Items: [{ Name: '', Nick: '' }] }, { content }), 'OK');
  assert.deepEqual(await send({ Items: [{ Name: '' }] }, { content }), {
    name: 'PERSONALIZATION_FAILURE',
    details: ['Items[0].Nick: has no value, and the template gives no default'],
  });
  assert.deepEqual(
    await send({ Items: [] }, { content: { subjectLine: '{{Items}}' } }),
    invalid(
      'content.subjectLine: has malformed personalization: {{Items}} is a list; show its fields in a section, {{#Items}}…{{/Items}}',
    ),
  );
});

test('items that are certain to make the message too large are refused', async () => {
  const template = 't-wide';
  assert.equal(await send({ Items: pens(209) }, { template }), 'OK');
  assert.deepEqual(
    await send({ Items: pens(210) }, { template }),
    invalid('Items: makes the HTML larger than 2 MiB: send fewer items or shorter values'),
  );
});

test('a field named __proto__ is an ordinary list', async () => {
  await publishShopTemplate(database, shop, {
    id: 't-proto',
    sender: 'orders@shop.test',
    source: JSON.parse(
      '{"subject":"s","previewText":"","html":"{{#__proto__}}[{{a}}]{{/__proto__}}","fields":{"__proto__":{"kind":"list"}}}',
    ),
  });
  const template = 't-proto';
  assert.equal(await send('{"__proto__":[{"a":"1"}]}', { template }), 'OK');
  assert.deepEqual(
    await send('{"__proto__":[{"a":1}]}', { template }),
    invalid('__proto__[0].a: must be a string'),
  );
});
