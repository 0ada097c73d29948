import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TemplateSource } from '../../../src/content/template/template-source.ts';
import { testAccountFirst } from '../../support/account-first.ts';
import { addKey } from '../../support/api-key.ts';
import { ManagementClient } from '../../support/management-client.ts';
import { bodyWith, SendClient } from '../../support/send-client.ts';
import { addSender, getToken, openShop, publishShopTemplate } from '../../support/shop.ts';
import { newAccountId, openSharedShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, service, owner, path, shop, as, client: sender } = await openSharedShop();
const otherShop = await openShop(database, { id: newAccountId() });
const otherSender = new SendClient(service, await getToken(service, otherShop), otherShop.id);
await owner.put(`${path}/queue/pauses/*`);
await addSender(database, shop.id, 'orders@shop.test', { displayNames: ['Demo Shop'] });
const html = '<p>{{Name}}</p>';
const sources: Readonly<Record<string, Partial<TemplateSource>>> = {
  order: { subject: 'Your order {{Number}} is ready, {{Name}}', html },
  offers: { subject: '17 offers for {{Name}}', html },
  news: {
    subject: 'News{{#Topics}} about {{Title}}{{/Topics}}',
    html,
    fields: { Topics: { kind: 'list', fields: { Title: {} } } },
    variants: { de: { subject: 'Neues für {{Name}}', html } },
  },
  code: {
    subject: 'Code {{Code}} for {{Name}}',
    html,
    fields: { Code: { secret: true }, Hidden: { secret: true } },
  },
};
for (const [id, source] of Object.entries(sources))
  await publishShopTemplate(database, shop, {
    id,
    sender: 'orders@shop.test',
    source: { previewText: 'Hello', text: 'Hello', ...source },
  });

let sent = 0;

async function send(
  template: string,
  values: Readonly<Record<string, unknown>>,
  more: Parameters<typeof bodyWith>[0] = {},
): Promise<string> {
  sent += 1;
  const body = bodyWith({
    ...more,
    envelope: { toAddress: `a${sent}@people.test`, ...more.envelope },
    content: { personalizationDataMap: values, ...more.content },
  });
  return sender.accept({ template, body });
}

interface Line {
  readonly id: string;
  readonly subject: string | null;
  readonly locale: string | null;
}

async function list(query: string): Promise<Line[]> {
  const lines: Line[] = [];
  for (let cursor: unknown = null; ; ) {
    const next = cursor === null ? '' : `&cursor=${cursor}`;
    const { status, body, text } = await owner.get(`${path}/messages?${query}${next}`);
    assert.equal(status, 200, text);
    lines.push(...(body.items as Line[]));
    if (body.nextCursor === null) return lines;
    cursor = body.nextCursor;
  }
}

async function find(search: string, more = ''): Promise<string[]> {
  return (await list(`search=${encodeURIComponent(search)}${more}`)).map(({ id }) => id);
}

/** Waits for the search index, and then checks that it stays so. */
async function waitUntilFound(search: string, ids: readonly string[], more = ''): Promise<void> {
  await waitFor(`${ids.length} messages for ${search}`, async () => {
    return (await find(search, more)).join() === [...ids].reverse().join();
  });
}

/** The subjects of messages are indexed when this one is found by its. */
async function waitForIndex(): Promise<void> {
  const number = `mark-${sent}`;
  await waitUntilFound(number, [await send('order', { Number: number, Name: 'Mark' })]);
}

test('messages are found from one box by ID, external ID, tag, template, address, attribute and words of the subject', async () => {
  const first = await send(
    'order',
    { Number: 'A-1001', Name: 'Ann Lee' },
    {
      envelope: { ccAddressList: ['cc@people.test'] },
      metadata: { externalId: 'x 1', tagList: ['spring sale'], attributes: { store: 'Wien' } },
    },
  );
  const second = await send('order', { Number: '17', Name: 'Bob' });
  const offer = await send('offers', { Name: 'Bob' });
  const own = await send(
    'offers',
    { Name: 'Ann' },
    { content: { subjectLine: 'Your order for {{Name}} waits' } },
  );
  const german = await send('news', { Name: 'Ünal', Topics: [] }, { content: { locale: 'de-AT' } });
  const topics = await send('news', { Name: 'x', Topics: [{ Title: 'Tea' }, { Title: '茶葉' }] });
  await otherSender.accept({
    body: bodyWith({
      content: { personalizationDataMap: { 'Order Number': 'A-1001' }, subjectLine: 'A-1001' },
    }),
  });
  await waitForIndex();
  for (const [search, ids] of [
    [first.toUpperCase(), [first]],
    ['x 1', [first]],
    ['spring sale', [first]],
    ['A1@people.test', [first]],
    ['cc@people.test', [first]],
    ['store=Wien', [first]],
    ['offers', [offer, own]],
    ['A-1001', [first]],
    ['1001', [first]],
    ['  order a-1001  ', [first]],
    ['“Order” A-1001, Lee!', [first]],
    // A word of one template's text is another's value.
    ['order 17', [second]],
    ['17 bob', [second, offer]],
    ['order ann', [first, own]],
    ['waits', [own]],
    ['neues für ünal', [german]],
    ['tea', [topics]],
    ['茶葉', [topics]],
    ['about news', [topics]],
  ] as const)
    await waitUntilFound(search, ids);
  for (const none of ['A-100', 'order A-1001 Bob', 'spring', 'people.test', '%', '='])
    assert.deepEqual(await find(none), [], none);
  await waitUntilFound('bob', [second], '&templateId=order');
  await waitUntilFound('bob', [offer], '&recipient=a3@people.test');
  assert.deepEqual(await find('order', '&until=2020-01-01'), []);
  assert.deepEqual(await find('order', '&limit=1'), await find('order'));
  assert.equal((await find(' ')).length, (await list('limit=100')).length, 'no text, no filter');
  assert.equal((await owner.get(`${path}/messages?search=${'x'.repeat(321)}`)).status, 422);
  const lines = await list('limit=100');
  const line = (id: string) => lines.find((one) => one.id === id);
  assert.equal(line(first)?.subject, 'Your order A-1001 is ready, Ann Lee');
  assert.equal(line(own)?.subject, 'Your order for Ann waits');
  assert.equal(line(german)?.subject, 'Neues für Ünal');
  assert.equal(line(german)?.locale, 'de-AT');
  assert.equal(line(topics)?.subject, 'News about Tea about 茶葉');
});

test('secret values are neither shown in subjects nor found, not even those that only the request’s subject line uses', async () => {
  const secret = await send('code', { Code: 's3cret-1', Name: 'Zoe' });
  const hidden = await send(
    'code',
    { Code: 's3cret-1', Name: 'Zoe', Hidden: 's3cret-2' },
    { content: { subjectLine: '{{Hidden}} for {{Name}}' } },
  );
  await waitForIndex();
  await waitUntilFound('zoe', [secret, hidden]);
  const lines = await list('search=zoe');
  assert.deepEqual(
    lines.map(({ subject }) => subject),
    ['•••••• for Zoe', 'Code •••••• for Zoe'],
  );
  assert.equal(
    (await owner.get(`${path}/messages/${hidden}`)).body.subject,
    '•••••• for Zoe',
    'the message has the subject of its line',
  );
  for (const word of ['s3cret-1', 's3cret', 's3cret-2', 'code s3cret-1'])
    assert.deepEqual(await find(word), [], word);
});

test('once a person is erased, the subject is gone and no longer found', async () => {
  const id = await send(
    'order',
    { Number: 'E-5005', Name: 'Eve' },
    { envelope: { toAddress: 'eve@people.test' } },
  );
  await waitForIndex();
  await waitUntilFound('e-5005', [id]);
  assert.equal((await owner.delete(`${path}/people/eve@people.test`)).status, 200);
  await waitUntilFound('e-5005', []);
  const [line] = await list(`search=${id}`);
  assert.equal(line?.subject, null);
  assert.equal((await owner.get(`${path}/messages/${id}`)).body.subject, null);
  const { rows } = await database.pool.query(
    'select from message_attribute where message_id = $1',
    [id],
  );
  assert.equal(rows.length, 0);
});

test('found messages are exported as CSV, with text that a spreadsheet would run made harmless', async () => {
  const metadata = { externalId: '=1+1', tagList: ['exported'] };
  await waitUntilFound('exported', [
    await send('order', { Number: 'X-1', Name: 'a "b", c' }, { metadata }),
    await send('order', { Number: 'X-2', Name: 'Ann' }, { metadata }),
  ]);
  const { status, text, headers } = await owner.get(`${path}/messages-export?search=exported`);
  assert.equal(status, 200);
  assert.match(headers.get('content-disposition') ?? '', /filename="messages\.csv"/);
  const [head, newest, oldest, end] = text.split('\r\n');
  assert.match(head ?? '', /^id,accepted_at,state,state_at,to,from,subject,template_id,/);
  assert.match(newest ?? '', /,"Your order X-2 is ready, Ann",order,1,exported,'=1\+1,/);
  assert.match(oldest ?? '', /,"Your order X-1 is ready, a ""b"", c",/);
  assert.equal(end, '');
  const none = await owner.get(`${path}/messages-export?tag=nothing`);
  assert.equal(none.text.trim(), head);
});

test('people save filters of their own under names; keys have none', async () => {
  const colleague = await as('viewer');
  const saved = `${path}/saved-filters`;
  const put = await owner.put(`${saved}/Failed%20receipts%2FDE`, {
    query: { state: 'failed', templateId: 'order', locale: 'de', period: '7d' },
  });
  assert.equal(put.status, 201, put.text);
  const save = (name: string, query: object) => owner.put(`${saved}/${name}`, { query });
  assert.equal((await save('all', {})).status, 201);
  assert.equal((await save('all', { search: 'Ann' })).status, 200);
  assert.equal((await colleague.put(`${saved}/all`, { query: { tag: 'mine' } })).status, 201);
  const own = await owner.get(saved);
  assert.deepEqual(own.body.items, [
    {
      name: 'Failed receipts/DE',
      query: { state: 'failed', templateId: 'order', locale: 'de', period: '7d' },
    },
    { name: 'all', query: { search: 'Ann' } },
  ]);
  assert.deepEqual((await colleague.get(saved)).body.items, [
    { name: 'all', query: { tag: 'mine' } },
  ]);
  for (const query of [{ state: 'lost' }, { period: '2d' }, { locale: '?' }, { other: 'x' }])
    assert.equal((await save('bad', query)).status, 422, JSON.stringify(query));
  for (const name of ['%20x', 'x%0Ay', 'x'.repeat(61)])
    assert.equal((await save(name, {})).status, 404, name);
  const token = await addKey(database, shop.id, { scopes: ['messages:read'] });
  const key = new ManagementClient(service, token);
  assert.deepEqual((await key.get(saved)).body.items, []);
  assert.equal((await key.get(`${saved}/all`)).status, 404);
  assert.equal((await key.put(`${saved}/all`, { query: {} })).status, 409);
  for (let n = 2; n < 50; n += 1) assert.equal((await save(`${n}`, {})).status, 201);
  assert.equal((await save('one-more', {})).status, 409);
  assert.equal((await save('all', {})).status, 200);
  const audit = await owner.get(`${path}/audit`);
  assert.equal(audit.text.includes('saved_filter'), false, 'they concern nobody else');
  assert.equal((await owner.delete(`${saved}/all`)).status, 204);
  assert.equal((await owner.delete(`${saved}/all`)).status, 404);
  assert.equal(((await colleague.get(saved)).body.items as unknown[]).length, 1);
});

testAccountFirst(9);
