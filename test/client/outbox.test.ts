import assert from 'node:assert/strict';
import { test } from 'node:test';
import type pg from 'pg';
import { outbox } from '../../packages/client/src/index.ts';
import { outboxSchemaSql } from '../../src/outbox/source/outbox-schema-sql.ts';
import { FeedbackShop } from '../support/feedback-shop.ts';
import { readInbox } from '../support/inbox-client.ts';
import { signInToManagement } from '../support/management-client.ts';
import { openOwnDatabase } from '../support/own-database.ts';
import { waitFor } from '../support/wait-for.ts';

const shop = await FeedbackShop.open({ OUTBOX_NETWORKS: '127.0.0.0/8' });
await shop.publish('note', '<p>{{Name}}</p>{{#Items}}<p>{{Title}}</p>{{/Items}}', {
  Items: { kind: 'list', default: [], fields: { Title: {} } },
});
const owner = await signInToManagement(shop.service, shop.shop.owner.email);
const { pool: app, url } = await openOwnDatabase();

/** A table with its source. @returns its name as the client takes it */
async function openTable(name: string): Promise<string> {
  await app.query(outboxSchemaSql({ dialect: 'postgres', table: name, answers: null }));
  const source = `/accounts/${shop.shop.id}/outbox-sources/${name.replaceAll(/\W/g, '-')}`;
  const saved = await owner.put(source, { table: name, url });
  assert.equal(saved.status, 201, saved.text);
  return name;
}

const table = await openTable('outbox_client');
const queryOf = (client: pg.ClientBase | pg.Pool) => (sql: string, values: string[]) =>
  client.query(sql, values);

async function inTransaction(
  end: 'commit' | 'rollback',
  work: (client: pg.PoolClient) => Promise<unknown>,
): Promise<void> {
  const client = await app.connect();
  try {
    await client.query('begin');
    await work(client);
    await client.query(end);
  } finally {
    client.release();
  }
}

/** The row of a recipient, once it has an answer. */
function answerTo(address: string, from = table) {
  return waitFor(`the answer to ${address}`, async () => {
    const { rows } = await app.query(
      `select * from ${from} where to_address = $1 and status is not null`,
      [address],
    );
    return rows[0];
  });
}

async function mailTo(address: string) {
  const [mail] = await readInbox(shop.service.url, `?to=${encodeURIComponent(address)}&wait=60`);
  assert.ok(mail, address);
  return mail;
}

test('an email is sent if the transaction commits, and leaves no row if it is rolled back', async () => {
  const sent = (to: string, data: { Name: string }) => (client: pg.PoolClient) =>
    outbox.insert(queryOf(client), 'note', { to, data }, { table });
  await inTransaction('rollback', sent('lost@people.test', { Name: 'Lost' }));
  await inTransaction('commit', sent('ada@people.test', { Name: 'Ada & Ben' }));
  assert.equal((await answerTo('ada@people.test')).status, 'accepted');
  assert.match((await mailTo('ada@people.test')).html ?? '', /<p>Ada &amp; Ben<\/p>/);
  const { rows } = await app.query(
    `select to_address, options from ${table} where to_address like '%ada@%' or to_address like '%lost@%'`,
  );
  assert.deepEqual(rows, [{ to_address: 'ada@people.test', options: {} }]);
});

test('a row has everything that a send takes', async () => {
  const message = {
    to: { address: 'eve@people.test', name: 'Eve' },
    cc: ['ben@people.test'],
    from: { address: 'orders@shop.test', name: 'Orders' },
    replyTo: 'orders@shop.test',
    subject: 'Hello {{Name}}',
    previewText: 'A note',
    data: { Name: 'Eve', Items: [{ Title: 'Ä “quoted”' }] },
    attachments: [
      { filename: 'one.txt', contentType: 'text/plain', content: new TextEncoder().encode('één') },
    ],
    headers: { 'X-Order': 'A-1' },
    externalId: 'A-1',
    tag: 'notes',
    attributes: { order: 'A-1' },
    trackClicks: true,
    deliverWhenDelayed: false,
    deliverBefore: new Date(Date.now() + 3_600_000),
  };
  await outbox.insert(queryOf(app), 'note', message, { table });
  const { message_id, status, error } = await answerTo('eve@people.test');
  assert.equal(status, 'accepted', JSON.stringify(error));
  const mail = await mailTo('eve@people.test');
  assert.equal(mail.subject, 'Hello Eve');
  assert.match(mail.html ?? '', /<p>Ä “quoted”<\/p>/);
  assert.match(mail.source, /^X-Order: A-1\r?$/m);
  assert.match(mail.source, /^To: "?Eve"? <eve@people\.test>\r?$/m);
  assert.match(mail.source, /^Cc: ben@people\.test\r?$/m);
  assert.match(mail.source, new RegExp(Buffer.from('één').toString('base64')));
  const { body } = await owner.get(`/accounts/${shop.shop.id}/messages/${message_id}`);
  assert.deepEqual([body.externalId, body.tag], ['A-1', 'notes']);
});

test('a time in the future schedules the message', async () => {
  const sendAt = new Date(Date.now() + 86_400_000);
  const times = [sendAt, sendAt.toISOString()];
  for (const [index, each] of times.entries()) {
    const to = `later-${index}@people.test`;
    await outbox.insert(queryOf(app), 'note', { to, data: { Name: '' }, sendAt: each }, { table });
    const { message_id, send_at } = await answerTo(to);
    assert.deepEqual(send_at, sendAt);
    const { body } = await owner.get(`/accounts/${shop.shop.id}/scheduled-messages`);
    const items = body.items as { messageId: string; sendAt: string }[];
    const scheduled = items.find(({ messageId }) => messageId === message_id);
    assert.equal(scheduled?.sendAt, sendAt.toISOString());
  }
});

test('a table that has only the required columns, in a schema of its own, takes an email without options', async () => {
  await app.query('create schema "the shop"');
  await app.query(
    `create table "the shop".outbox (id bigint generated always as identity primary key, template text not null,
       to_address text not null, status text)`,
  );
  await shop.publish('plain', '<p>Hello</p>');
  const name = await openTable('the shop.outbox');
  await outbox.insert(queryOf(app), 'plain', { to: 'bob@people.test' }, { table: name });
  assert.equal((await answerTo('bob@people.test', '"the shop".outbox')).status, 'accepted');
});

test('values are marked with question marks for functions that take those, and quoted for MySQL', async () => {
  const statements: [string, string[]][] = [];
  const record = async (sql: string, values: string[]) => void statements.push([sql, values]);
  const message = {
    to: 'ada@people.test',
    data: { Name: 'A?' },
    sendAt: '2030-01-02T03:04:05.678+01:00',
  };
  await outbox.insert(record, 'note', message, { placeholders: '?' });
  await outbox.insert(record, 'note', message, { dialect: 'mysql', table: 'sh`op.email outbox' });
  const values = ['note', 'ada@people.test', '{"Name":"A?"}'];
  assert.deepEqual(statements, [
    [
      'insert into "email_outbox" (template, to_address, data, send_at) values (?, ?, ?::text::jsonb, ?::text::timestamptz)',
      [...values, '2030-01-02T02:04:05.678Z'],
    ],
    [
      'insert into `sh``op`.`email outbox` (template, to_address, data, send_at) values (?, ?, ?, from_unixtime(cast(? as decimal(16, 3))))',
      [...values, '1893549845.678'],
    ],
  ]);
});

test('what the function returns is returned, and its error is thrown', async () => {
  const message = { to: 'ada@people.test', data: { Name: 'Ada' } };
  assert.equal(await outbox.insert(async () => 7, 'note', message), 7);
  await assert.rejects(
    outbox.insert(queryOf(app), 'note', message, { table: 'outbox_missing' }),
    /relation "outbox_missing" does not exist/,
  );
});
