import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyWith, SendClient } from '../../support/send-client.ts';
import { addSender, getToken, openShop, publishShopTemplate } from '../../support/shop.ts';
import { newAccountId, openSharedShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, service, owner, path, shop, client: sender } = await openSharedShop();
const template = 't-attributes';
await addSender(database, shop.id, 'orders@shop.test', { displayNames: ['Demo Shop'] });
await publishShopTemplate(database, shop, { id: template, sender: 'orders@shop.test' });
const other = await openShop(database, { id: newAccountId() });
const otherSender = new SendClient(service, await getToken(service, other), other.id);
await owner.put(`${path}/queue/pauses/*`);

let sent = 0;

async function send(
  attributes: Readonly<Record<string, string>>,
  more: Parameters<typeof bodyWith>[0] = {},
): Promise<string> {
  sent += 1;
  const toAddress = `a${sent}@people.test`;
  const body = bodyWith({
    ...more,
    envelope: { toAddress, ...more.envelope },
    metadata: { ...more.metadata, attributes },
  });
  return sender.accept({ template, body });
}

async function find(attribute: string, more = ''): Promise<string[]> {
  const query = `attribute=${encodeURIComponent(attribute)}${more}`;
  const ids: string[] = [];
  for (let cursor: unknown = null; ; ) {
    const next = cursor === null ? '' : `&cursor=${cursor}`;
    const { status, body, text } = await owner.get(`${path}/messages?${query}${next}`);
    assert.equal(status, 200, text);
    ids.push(...(body.items as { id: string }[]).map(({ id }) => id));
    if (body.nextCursor === null) return ids;
    cursor = body.nextCursor;
  }
}

function waitUntilFound(attribute: string, ids: readonly string[], more = ''): Promise<unknown> {
  return waitFor(`the messages with ${attribute}`, async () => {
    return JSON.stringify(await find(attribute, more)) === JSON.stringify([...ids].reverse());
  });
}

test('messages are found by attribute, newest first, page by page and with other filters', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1)
    ids.push(await send({ store: 'Wien', n: `${n}` }, { metadata: { tagList: [`tag-${n % 2}`] } }));
  await send({ store: 'wien', Store: 'Wien' });
  await send({ 'store=W': 'ien' });
  await otherSender.accept({
    body: bodyWith({ metadata: { attributes: { store: 'Wien' } } }),
  });
  await waitUntilFound('store=Wien', ids);
  await waitUntilFound('store=Wien', ids, '&limit=2');
  await waitUntilFound('store=Wien', [ids[1], ids[3]] as string[], '&tag=tag-1');
  await waitUntilFound('store=Wien', ids, '&waiting=true');
  await waitUntilFound('n=3', [ids[3]] as string[]);
  for (const none of ['store=Wie', 'store', 'Wien', 'store=wien ', '=', 'n=5'])
    assert.deepEqual(await find(none), [], none);
  await waitUntilFound('store=Wien', ids, '&from=2020-01-01T00:00:00Z');
  assert.deepEqual(await find('store=Wien', '&until=2020-01-01T00:00:00Z'), []);
  const long = await owner.get(`${path}/messages?attribute=${'x'.repeat(242)}`);
  assert.equal(long.status, 422);
});

test('a message shows its attributes, its headers and the recipient’s name', async () => {
  const id = await send(
    { order: 'A-1' },
    {
      envelope: { toDisplayName: 'Ada' },
      content: {
        headers: { 'X-Order': 'A-1' },
        personalizationDataMap: { 'Order Number': 'A-1' },
      },
    },
  );
  const { body } = await owner.get(`${path}/messages/${id}`);
  assert.deepEqual(body.attributes, { order: 'A-1' });
  const content = body.content as Record<string, unknown>;
  assert.deepEqual(content.headers, { 'X-Order': 'A-1' });
  assert.equal(content.toName, 'Ada');
  const again = await owner.post(`${path}/messages/${id}/resend`);
  const copy = await owner.get(`${path}/messages/${again.body.messageId}`);
  assert.deepEqual(copy.body.attributes, { order: 'A-1' });
  assert.deepEqual(copy.body.content, content);
});

test('messages of an erased person are no longer found by attribute', async () => {
  const id = await send({ patient: '17' }, { envelope: { toAddress: 'gone@people.test' } });
  await waitUntilFound('patient=17', [id]);
  const erased = await owner.delete(`${path}/people/gone@people.test`);
  assert.equal(erased.status, 200, erased.text);
  assert.deepEqual(await find('patient=17'), []);
  const { rows } = await database.pool.query(
    'select from message_attribute where message_id = $1',
    [id],
  );
  assert.equal(rows.length, 0);
  const { body } = await owner.get(`${path}/messages/${id}`);
  assert.deepEqual(body.attributes, {});
});
