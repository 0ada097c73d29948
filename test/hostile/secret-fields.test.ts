import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openManagedShop } from '../support/management-client.ts';
import { bodyWith, SendClient } from '../support/send-client.ts';
import { getToken } from '../support/shop.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';

const { database, url } = await createTestDatabase();
// Without a worker, messages stay queued and keep their values.
const service = await startTestService({ databaseUrl: url, worker: false });
const managed = await openManagedShop(database, service);
const { owner, path, shop } = managed;
const marketer = await managed.as('marketer');
const otherOwner = await managed.as('owner');
const sender = new SendClient(service, await getToken(service, shop));

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

async function send(): Promise<unknown> {
  const body = bodyWith({ content: { personalizationDataMap: { Token: 'SECRET-1' } } });
  const sent = await sender.send({ template: 'reset', body });
  assert.equal(sent.status, 200, sent.text);
  return sent.body.messageId;
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
  assert.equal(await shownToken(await send()), 'SECRET-1');
  assert.notEqual(await shownToken(first), 'SECRET-1');
  assert.equal((await otherOwner.get(template)).status, 200);
});

test('a secret that a version leaves out is masked in values that callers still send', async () => {
  const other = `${path}/templates/later`;
  await owner.put(other, { name: 'Later' });
  await owner.put(`${other}/draft`, content(true));
  assert.equal((await owner.post(`${other}/publish`, {})).status, 200);
  const { Token: _, ...fields } = content(false).fields;
  await marketer.put(`${other}/draft`, { ...content(false), html: '<p>Hello</p>', fields });
  assert.equal((await marketer.post(`${other}/publish`, {})).status, 200);
  const body = bodyWith({ content: { personalizationDataMap: { Token: 'SECRET-2' } } });
  const sent = await sender.send({ template: 'later', body });
  assert.notEqual(await shownToken(sent.body.messageId), 'SECRET-2');
});
