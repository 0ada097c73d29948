import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startSink } from '../support/mail-sink.ts';
import { bodyWith } from '../support/send-client.ts';
import { addSender } from '../support/shop.ts';
import { startTestService } from '../support/test-service.ts';
import { openTestShop } from '../support/test-shop.ts';
import { waitFor } from '../support/wait-for.ts';

const managed = await openTestShop({ worker: false });
const { database, owner, path, shop, client: sender, databaseUrl: url } = managed;
// Without a worker, messages stay queued and keep their values.
const marketer = await managed.as('marketer');
const otherOwner = await managed.as('owner');

const template = `${path}/templates/reset`;
const content = (secret: boolean) => ({
  subject: 'Reset',
  html: '<p>{{Token}}</p>',
  sender: 'orders@shop.test',
  fields: { Token: { sample: 'x', ...(secret && { secret }) } },
});

/** The value of Token as the API shows it. */
async function shownToken(id: unknown): Promise<unknown> {
  const { body } = await marketer.get(`${path}/messages/${id}`);
  return (body.content as { values: Record<string, unknown> }).values.Token;
}

async function send(id = 'reset', parts: Parameters<typeof bodyWith>[0] = {}): Promise<unknown> {
  const content = { personalizationDataMap: { Token: 'SECRET-1' } };
  return sender.accept({ template: id, body: bodyWith({ content, ...parts }) });
}

test('ASVS 4.0.3 8.3.4: a field that was secret stays secret until an owner reveals it, and other owners get a notice', async () => {
  assert.equal((await marketer.put(template, { name: 'Reset' })).status, 201);
  await marketer.put(`${template}/draft`, content(true));
  assert.equal((await marketer.post(`${template}/publish`, {})).status, 200);
  const first = await send();
  assert.notEqual(await shownToken(first), 'SECRET-1');

  await marketer.put(`${template}/draft`, content(false));
  const refused = await marketer.post(`${template}/publish`, {});
  assert.equal(refused.status, 409, refused.text);
  assert.match(refused.text, /The fields Token were secret/);
  const forbidden = await marketer.post(`${template}/publish`, { revealedFields: ['Token'] });
  assert.equal(forbidden.status, 403, forbidden.text);

  const revealed = await owner.post(`${template}/publish`, { revealedFields: ['Token'] });
  assert.equal(revealed.status, 200, revealed.text);
  const { rows } = await database.pool.query(
    `select facts ->> 'who' as who from system_mail where facts ->> 'event' = 'template-fields-revealed'`,
  );
  assert.deepEqual(rows, [{ who: shop.owner.email }]);
  await waitFor('the next version', async () => (await shownToken(await send())) === 'SECRET-1');
  assert.notEqual(await shownToken(first), 'SECRET-1');
  assert.equal((await otherOwner.get(template)).status, 200);
});

test('a revealed field is secret again once a version is published that declares it so', async () => {
  assert.equal((await marketer.post(`${template}/roll-back`, { version: 1 })).status, 200);
  await marketer.put(`${template}/draft`, content(false));
  const refused = await marketer.post(`${template}/publish`, {});
  assert.equal(refused.status, 409, refused.text);
  assert.match(refused.text, /The fields Token were secret/);
});

test('a secret can’t be shown as a field of items that comes from outside', async () => {
  const other = `${path}/templates/items`;
  await owner.put(other, { name: 'Items' });
  await owner.put(`${other}/draft`, content(true));
  assert.equal((await owner.post(`${other}/publish`, {})).status, 200);
  const html = '{{#Items}}{{Name}} {{Token}} <a href="https://shop.test/{{Token}}">x</a>{{/Items}}';
  const fields = { Items: { kind: 'list', fields: { Name: { sample: 'Ink' } } } };
  await marketer.put(`${other}/draft`, { ...content(false), html, fields });
  const refused = await marketer.post(`${other}/publish`, {});
  assert.equal(refused.status, 409, refused.text);
  assert.match(refused.text, /The fields Token were secret/);
});

test('a secret that a version leaves out is masked in values that callers still send', async () => {
  const other = `${path}/templates/later`;
  await owner.put(other, { name: 'Later' });
  await owner.put(`${other}/draft`, content(true));
  assert.equal((await owner.post(`${other}/publish`, {})).status, 200);
  const { Token: _, ...fields } = content(false).fields;
  await marketer.put(`${other}/draft`, { ...content(false), html: '<p>Hello</p>', fields });
  assert.equal((await marketer.post(`${other}/publish`, {})).status, 200);
  assert.notEqual(await shownToken(await send('later')), 'SECRET-1');
});

test('a message with a secret that its version leaves out has no Bcc, no replies and no archive copy', async () => {
  const archive = 'archive@shop.test';
  await addSender(database, shop.id, archive);
  const set = await owner.put(path, { name: 'Shop', archiveAddress: archive });
  assert.equal(set.status, 200, set.text);
  const personalizationDataMap = { Token: 'SECRET-1' };
  for (const [parts, field] of [
    [{ envelope: { bccAddressList: ['copy@people.test'] } }, 'envelope.bccAddressList'],
    [{ actions: { receiveReplies: true } }, 'actions.receiveReplies'],
  ] as const) {
    const body = bodyWith({ content: { personalizationDataMap }, ...parts });
    const refused = await sender.send({ template: 'later', body });
    assert.equal(refused.status, 400, refused.text);
    assert.ok(refused.text.includes(field), refused.text);
  }
  const archived = async (values: object): Promise<unknown> => {
    const body = bodyWith({ content: { personalizationDataMap: values } });
    const sent = await sender.send({ template: 'later', body });
    const { rows } = await database.pool.query(
      `select content ->> 'archive' as archive from message where id = $1`,
      [sent.body.messageId],
    );
    return rows[0]?.archive;
  };
  await waitFor('the archive address', async () => (await archived({})) === archive);
  assert.equal(await archived(personalizationDataMap), null);
});

test('messages of a version from before a field was secret hide it too, and lose it once they are final', async () => {
  const other = `${path}/templates/earlier`;
  const subject = 'Code {{Token}}';
  await owner.put(other, { name: 'Earlier' });
  await owner.put(`${other}/draft`, { ...content(false), subject });
  assert.equal((await owner.post(`${other}/publish`, {})).status, 200);
  const first = String(await send('earlier', { envelope: { toAddress: 'export@people.test' } }));
  const listed = async (): Promise<string> => (await owner.get(`${path}/messages`)).text;
  assert.match(await listed(), /Code SECRET-1/);
  const sink = await startSink();
  await startTestService({
    databaseUrl: url,
    environment: { SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=off` },
  });
  const delivered = (id: string) =>
    waitFor('the delivery', async () => (await sender.status(id)).body.state === 'delivered');
  await delivered(first);
  const exported = async (): Promise<string> =>
    (await owner.get(`${path}/people/export@people.test`)).text;
  assert.match(await exported(), /SECRET-1/);

  await owner.put(`${other}/draft`, { ...content(true), subject: 'Code' });
  assert.equal((await owner.post(`${other}/publish`, {})).status, 200);
  await waitFor('a masked subject', async () => !/Code SECRET-1/.test(await listed()));
  assert.doesNotMatch(await exported(), /SECRET-1/);

  const unused = String(await send('later'));
  await delivered(unused);
  const { rows } = await database.pool.query(
    `select content -> 'values' ->> 'Token' as token from message where id = $1`,
    [unused],
  );
  assert.deepEqual(rows, [{ token: null }]);
});
