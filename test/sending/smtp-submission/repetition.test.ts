import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSubmissionShop, templateMail } from '../../support/submission-shop.ts';

const world = await openSubmissionShop();
const { database } = world.shop;

async function count(tag: string): Promise<number> {
  const { rows } = await database.pool.query('select id from message where tag = $1', [tag]);
  return rows.length;
}

function mail(tag: string, fields: Readonly<Record<string, string>> = {}): string {
  const all = { 'Message-ID': `<${tag}@app.test>`, 'X-Signalpost-Tag': tag, ...fields };
  return templateMail({ 'Order Number': 'A-1' }, all);
}

const received = 'Received: from app.test by relay.test; Thu, 1 Jan 2026 00:00:00 +0000\r\n';

test('a message that is repeated because the reply got lost is sent once', async () => {
  const client = await world.login();
  const to = ['a@people.test', 'b@people.test'];
  const first = await client.submit(to, mail('again'));
  assert.match(first, /^250 /);
  // Another session, in another order, over one more relay.
  const other = await world.login();
  assert.equal(await other.submit([...to].reverse(), `${received}${mail('again')}`), first);
  assert.equal(await count('again'), 2);
});

test('two sessions that send the same message at the same time send it once', async () => {
  const clients = await Promise.all(Array.from({ length: 5 }, () => world.login()));
  const replies = await Promise.all(
    clients.map((client) => client.submit(['race@people.test'], mail('race'))),
  );
  assert.equal(new Set(replies).size, 1);
  assert.match(replies[0] ?? '', /^250 /);
  assert.equal(await count('race'), 1);
});

test('the same Message-ID to other recipients is another message: relays split recipients', async () => {
  const client = await world.login();
  for (const to of [['a@people.test', 'b@people.test'], ['a@people.test'], ['c@people.test']])
    assert.match(await client.submit(to, mail('split')), /^250 /);
  assert.equal(await count('split'), 4);
});

test('another text or no Message-ID is another message', async () => {
  const client = await world.login();
  await client.submit(['a@people.test'], mail('text'));
  await client.submit(['a@people.test'], mail('text', { Subject: 'Reminder' }));
  assert.equal(await count('text'), 2);
  for (const _ of [1, 2])
    await client.submit(['a@people.test'], mail('bare', { 'Message-ID': '' }));
  assert.equal(await count('bare'), 2);
});

test('an idempotency key stands for the message, whatever its Message-ID', async () => {
  const client = await world.login();
  const keyed = (id: string) =>
    mail('keyed', { 'Message-ID': `<${id}@app.test>`, 'X-Signalpost-Idempotency-Key': 'order-1' });
  const first = await client.submit(['a@people.test'], keyed('one'));
  assert.equal(await client.submit(['a@people.test'], keyed('two')), first);
  assert.equal(await count('keyed'), 1);
  // A relay that splits the recipients sends the same key with each part.
  assert.match(await client.submit(['b@people.test'], keyed('one')), /^250 /);
  assert.equal(await count('keyed'), 2);
});
