import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { reportFacts } from '../../../src/outcomes/report/roll-up-store.ts';
import { startSink } from '../../support/mail-sink.ts';
import { bodyWith } from '../../support/send-client.ts';
import { addSender, publishShopTemplate } from '../../support/shop.ts';
import { openTestShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const sink = await startSink();
const {
  database,
  owner,
  path,
  as,
  shop,
  client: sender,
} = await openTestShop({ environment: { SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=off` } });
await addSender(database, shop.id, 'orders@shop.test', { displayNames: ['Demo Shop'] });
const html = '<p>{{Order Number}}';
for (const secret of [false, true]) {
  const source = {
    previewText: '',
    html,
    subject: 'Order',
    fields: { 'Order Number': { secret } },
  };
  const id = secret ? 't-secret' : 't-plain';
  await publishShopTemplate(database, shop, { id, sender: 'orders@shop.test', source });
}
const archive = 'archive@shop.test';
await addSender(database, shop.id, archive);

/** Sends a message and returns the recipients of its transactions once all have it. */
async function recipientsOf(template: string, envelope: Record<string, unknown>) {
  const from = sink.mails.length;
  const response = await sender.send({ template, body: bodyWith({ envelope }) });
  assert.equal(response.status, 200, response.text);
  const id = String(response.body.messageId);
  await waitFor('the delivery', async () => {
    const { body } = await sender.status(id);
    const recipients = body.recipients as { state: string }[];
    return recipients.every(({ state }) => state === 'delivered');
  });
  const mails = sink.mails.slice(from);
  for (const { source } of mails) assert.equal(/^(?:bcc|cc):|archive@/im.test(source), false);
  return {
    to: mails.map(({ to }) => to.join()).sort(),
    suppressed: response.body.suppressedRecipients,
  };
}

test('an owner sets, keeps and removes the archive address, and others can’t', async () => {
  const set = await owner.put(path, { name: 'Shop', archiveAddress: archive });
  assert.equal(set.body.archiveAddress, archive, set.text);
  assert.equal((await owner.put(path, { name: 'Shop 2' })).body.archiveAddress, archive);
  const wrong = await owner.put(path, { name: 'Shop', archiveAddress: 'none' });
  assert.equal(wrong.status, 422);
  assert.match(wrong.text, /archiveAddress/);
  const long = await owner.put(path, { name: 'Shop', archiveAddress: 'x'.repeat(321) });
  assert.equal(long.status, 422);
  const viewer = await as('viewer');
  assert.equal((await viewer.put(path, { name: 'Shop', archiveAddress: '' })).status, 403);
  assert.equal((await owner.get(path)).body.archiveAddress, archive);
});

test('the archive address gets a blind copy of its own, beside five Bcc addresses', async () => {
  const bccAddressList = Array.from({ length: 5 }, (_, n) => `b${n}@people.test`);
  const { to } = await recipientsOf('t-plain', { toAddress: 'a@people.test', bccAddressList });
  assert.deepEqual(to, ['a@people.test', archive, ...bccAddressList].sort());
  assert.deepEqual((await recipientsOf('t-plain', { toAddress: 'c@people.test' })).to, [
    archive,
    'c@people.test',
  ]);
});

test('a template with secret fields skips the archive address', async () => {
  assert.deepEqual((await recipientsOf('t-secret', { toAddress: 'a@people.test' })).to, [
    'a@people.test',
  ]);
});

test('a suppressed archive address is skipped and returned, and a removed one gets nothing', async () => {
  await database.pool.query(
    `insert into suppression (account_id, address, reason, created_at) values ($1, $2, 'hard_bounce', now())`,
    [shop.id, archive],
  );
  const { to, suppressed } = await recipientsOf('t-plain', { toAddress: 's@people.test' });
  assert.deepEqual([to, suppressed], [['s@people.test'], [archive]]);
  await database.pool.query('delete from suppression');
  const removed = await owner.put(path, { name: 'Shop', archiveAddress: '' });
  assert.equal(removed.body.archiveAddress, '');
  assert.deepEqual((await recipientsOf('t-plain', { toAddress: 'r@people.test' })).to, [
    'r@people.test',
  ]);
});

test('RFC 8058: To keeps its unsubscribe link and tracking, and the copy has nothing that acts for To', async () => {
  const source = {
    subject: 'News',
    previewText: '',
    html: '<p><a href="https://shop.test/a">A</a> <a href="{{Unsubscribe Link}}">Leave</a>',
    fields: {},
  };
  await publishShopTemplate(database, shop, { id: 't-news', sender: 'orders@shop.test', source });
  await owner.put(path, { name: 'Shop', archiveAddress: archive });
  const from = sink.mails.length;
  const body = bodyWith({
    envelope: { toAddress: 'news@people.test' },
  });
  const id = await sender.accept({ template: 't-news', body });
  await waitFor('both copies', async () => sink.mails.length === from + 2);
  const find = (to: string) => sink.mails.slice(from).find((mail) => mail.to.includes(to))?.source;
  const [original = '', copy = ''] = [find('news@people.test'), find(archive)];
  assert.match(original, /^List-Unsubscribe:/im);
  assert.match(original, /\/u\//);
  assert.match(original, /\/c\//);
  assert.doesNotMatch(copy, /List-Unsubscribe|\/u\/|\/c\/|\/o\//);
  assert.match(copy, /https:\/\/shop\.test\/a/);
  const { rows } = await database.pool.query(
    `select content -> 'cc' as cc, content ->> 'archive' as archive from message where id = $1`,
    [id],
  );
  assert.deepEqual(rows, [{ cc: null, archive }]);
});

test('reports count the recipients of the request, not the copy', async () => {
  const only = sql`m.template_id = 't-news'`;
  const { rows } = await waitFor('the outcomes', async () => {
    const found = await sql`
      select count(*) filter (where kind = 'accepted')::int as accepted,
        count(*) filter (where kind = 'delivered')::int as delivered
      from (${reportFacts(only, only)}) as facts`.execute(database.kysely);
    const { rows: events } = await database.pool.query(
      `select from message_event e join message m on m.id = e.message_id
       where m.template_id = 't-news' and e.kind = 'delivered'`,
    );
    return events.length === 2 && found;
  });
  assert.deepEqual(rows, [{ accepted: 1, delivered: 1 }]);
});
