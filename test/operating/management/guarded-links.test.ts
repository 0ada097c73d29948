import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addKey } from '../../support/api-key.ts';
import { addressesIn } from '../../support/feedback-shop.ts';
import { readInbox } from '../../support/inbox-client.ts';
import { bodyWith, SendClient } from '../../support/send-client.ts';
import { sendRequest } from '../../support/send-request.ts';
import { openTestShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, owner, path, client, service, shop } = await openTestShop();
const template = `${path}/templates/reset`;
const target = 'https://auth.shop.test/reset?token=1';
const content = (fields: object) => ({
  subject: 'Reset',
  previewText: 'Your link',
  html: '<html lang="en"><a href="{{Reset URL}}">Reset</a></html>',
  sender: 'orders@shop.test',
  fields,
});

async function linkTo(to: string): Promise<string> {
  const [mail] = await readInbox(service.url, `?to=${to}&wait=60`);
  return addressesIn(mail?.html ?? '', 'href')[0] ?? '';
}

const press = (link: string) =>
  sendRequest(link, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'continue=1',
  });

test('a preview suggests to guard what looks like a one-time link, and shows what a guarded one will be', async () => {
  assert.equal((await owner.put(template, { name: 'Reset' })).status, 201);
  const hintsFor = async (draft: object) => {
    const { body } = await owner.post(`${template}/preview`, { content: draft });
    return (body.hints as { rule: string }[]).map(({ rule }) => rule);
  };
  for (const name of ['Reset URL', 'magicLink', 'verify_url', 'Login link', 'Sign-in Link'])
    assert.ok(
      (await hintsFor({ ...content({}), html: `<a href="{{${name}}}">Go</a>` })).includes(
        'unguarded-link',
      ),
      name,
    );
  for (const name of ['Unsubscribe Link', 'Invoice URL', 'Reset Code'])
    assert.ok(
      !(await hintsFor({ ...content({}), html: `<a href="{{${name}}}">Go</a>` })).includes(
        'unguarded-link',
      ),
      name,
    );
  const { body } = await owner.post(`${template}/preview`, {
    content: content({ 'Reset URL': { guard: { days: 3 } } }),
  });
  const [field] = body.fields as { secret: boolean; guardDays: number; required: boolean }[];
  assert.deepEqual([field?.secret, field?.guardDays, field?.required], [true, 3, true]);
  assert.ok(!(body.hints as { rule: string }[]).some(({ rule }) => rule === 'unguarded-link'));
  assert.match(JSON.stringify(body.rendered), /https:\/\/example\.com\/confirm/);
});

test('days out of range, and guarded fields of items, are refused', async () => {
  for (const fields of [
    { 'Reset URL': { guard: { days: 0 } } },
    { 'Reset URL': { guard: { days: 91 } } },
    { 'Reset URL': { guard: 'yes' } },
    { Items: { kind: 'list', fields: { 'Reset URL': { guard: true } } } },
  ]) {
    const refused = await owner.put(`${template}/draft`, content(fields));
    assert.equal(refused.status, 422, refused.text);
  }
});

test('a published field keeps its setting, and what it implies', async () => {
  const draft = content({ 'Reset URL': { guard: true } });
  await owner.put(`${template}/draft`, draft);
  assert.equal((await owner.post(`${template}/publish`, {})).status, 200);
  const { body } = await owner.get(`${template}/versions/1`);
  assert.deepEqual((body.content as { fields: object }).fields, {
    'Reset URL': { guard: true, secret: true },
  });
  // The same content is no new version, however it says so.
  await owner.put(
    `${template}/draft`,
    content({ 'Reset URL': { guard: { days: 7 }, secret: true } }),
  );
  const again = await owner.post(`${template}/publish`, {});
  assert.equal(again.body.version, 1, again.text);
});

test('a test message has a link that works, also of a value that is given', async () => {
  for (const values of [undefined, { 'Reset URL': target }]) {
    const to = `t${values === undefined ? 1 : 2}@people.test`;
    const sent = await owner.post(`${template}/test-send`, { to, values });
    assert.equal(sent.status, 202, sent.text);
    const led = await press(await linkTo(to));
    assert.equal(
      led.headers.get('location'),
      values?.['Reset URL'] ?? 'https://example.com/confirm',
    );
  }
  const values = { 'Reset URL': 'no link' };
  const refused = await owner.post(`${template}/test-send`, { to: 't3@people.test', values });
  assert.equal(refused.status, 422, refused.text);
});

test('a message that is sent again has links of its own', async () => {
  await database.pool.query(
    `insert into delivery_pause (account_id, destination, paused_at) select account_id, 'again.test', now() from sender limit 1`,
  );
  const to = 'a@again.test';
  const id = await client.accept({
    template: 'reset',
    body: bodyWith({
      envelope: { toAddress: to },
      content: { personalizationDataMap: { 'Reset URL': target } },
    }),
  });
  const resent = await owner.post(`${path}/messages/${id}/resend`, {});
  assert.equal(resent.status, 201, resent.text);
  assert.deepEqual((await owner.post(`${path}/messages/${id}/revoke-links`, {})).body, {
    changed: true,
  });
  await owner.post(`${path}/messages/${id}/cancel`, {});
  const { rows } = await database.pool.query<{ id: string; value: string }>(
    `select id, content -> 'values' ->> 'Reset URL' as value from message where content ->> 'to' = $1`,
    [to],
  );
  const copy = rows.find((row) => row.id === resent.body.messageId);
  assert.ok(copy !== undefined && copy.value !== rows.find((row) => row.id === id)?.value);
  assert.equal((await press(`${service.url}/g/${copy.value}`)).headers.get('location'), target);
  await waitFor('the first one to end', async () => {
    const { body } = await owner.get(`${path}/messages/${id}`);
    return body.state === 'canceled';
  });
});

test('the link of a resent test message works', async () => {
  // The values of a message that is final are erased.
  await database.pool.query(
    `insert into delivery_pause (account_id, destination, paused_at) values ($1, '*', now())`,
    [shop.id],
  );
  const tests = new SendClient(service, await addKey(database, shop.id, { mode: 'test' }), shop.id);
  const content = { personalizationDataMap: { 'Reset URL': target } };
  const envelope = { toAddress: 'tested@people.test' };
  const id = await tests.accept({ template: 'reset', body: bodyWith({ envelope, content }) });
  const resent = await owner.post(`${path}/messages/${id}/resend`, {});
  assert.equal(resent.status, 201, resent.text);
  const { rows } = await database.pool.query<{ value: string }>(
    `select content -> 'values' ->> 'Reset URL' as value from message where id = any ($1)`,
    [[id, resent.body.messageId]],
  );
  assert.equal(rows.length, 2);
  for (const { value } of rows)
    assert.equal((await press(`${service.url}/g/${value}`)).headers.get('location'), target);
  await database.pool.query('delete from delivery_pause where account_id = $1', [shop.id]);
});
