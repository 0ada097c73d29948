import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EmailAddress } from '../../../src/base/values/email-address.ts';
import { DirectShop } from '../../support/direct-shop.ts';
import { readSentMail } from '../../support/read-mail.ts';
import { bodyWith } from '../../support/send-client.ts';
import { saveShop } from '../../support/shop.ts';
import { TestMx } from '../../support/test-mx.ts';
import { waitFor } from '../../support/wait-for.ts';

const archiveAddress = 'everything@archive.test' as EmailAddress;
const connections = 2;
const messages = 12;

/** Until all messages wait, so that they would use more connections if they could. */
const greeting = Promise.withResolvers<void>();
const shop = await DirectShop.open('127.0.0.77=mail.sender.test', {
  address: '127.0.0.2',
  port: 0,
  beforeGreeting: () => greeting.promise,
});
const { database, zones, mx, client } = shop;
const archive = await new TestMx({ address: '127.0.0.3', port: mx.port }).start();
zones
  .set('mail.sender.test', { A: ['127.0.0.77'] })
  .set('home.test', { MX: [[10, 'mx.home.test']] })
  .set('mx.home.test', { A: ['127.0.0.2'] })
  .set('archive.test', { MX: [[10, 'mx.archive.test']] })
  .set('mx.archive.test', { A: ['127.0.0.3'] });
await saveShop(database, { archiveAddress });

test('Cc, Bcc and archive copies have transactions of their own, blind ones invisible to all, within the connections of each destination', async () => {
  // Learned limits start slowly; fixed ones show whether copies keep to them.
  await database.pool.query(
    `insert into destination (name, label, rate, good, connections, override_rate, override_connections)
     select name, name, 10, 5, 20, 100, $2 from unnest($1::text[]) as name`,
    [['home.test', 'archive.test'], connections],
  );
  const sent = await Promise.all(
    Array.from({ length: messages }, async (_, number) => {
      const envelope = {
        toAddress: `to${number}@home.test`,
        ccAddressList: [`cc${number}@home.test`],
        bccAddressList: [`blind${number}@home.test`, `unseen${number}@archive.test`],
      };
      return { envelope, id: await client.accept({ body: bodyWith({ envelope }) }) };
    }),
  );
  await waitFor('the connections', () => mx.open === connections);
  greeting.resolve();
  await waitFor('all deliveries', async () => {
    const { rowCount } = await database.pool.query('select from queued_delivery');
    return rowCount === 0;
  });
  for (const { envelope, id } of sent) {
    const copies = [...mx.mails, ...archive.mails].filter(({ source }) => source.includes(id));
    const parties = copies.map(({ to }) => to.join()).sort();
    const { toAddress, ccAddressList, bccAddressList } = envelope;
    assert.deepEqual(
      parties,
      [toAddress, ...ccAddressList, ...bccAddressList, archiveAddress].sort(),
    );
    const [first] = copies;
    for (const { to, source } of copies) {
      // The account's own copy has no tracking. A signature can have any characters.
      const body = source.slice(source.indexOf('\r\n\r\n'));
      if (to.includes(archiveAddress)) assert.doesNotMatch(body, /\/o\//);
      else assert.equal(source, first?.source, 'the same bytes');
      assert.doesNotMatch(source, /blind|unseen|everything|archive\.test|^Bcc:/im);
    }
    const { fields } = readSentMail(first?.source ?? '');
    assert.equal(fields.get('bcc'), undefined);
    const returnPaths = new Set(copies.map(({ from }) => from));
    assert.equal(returnPaths.size, copies.length, 'bounces name the recipient');
  }
  assert.equal(mx.maxOpen, connections);
  assert.ok(archive.maxOpen <= connections);
  const events = await database.pool.query(
    `select recipient, count(*)::int as count from message_event where kind = 'delivered' group by 1 order by 1`,
  );
  assert.deepEqual(
    events.rows,
    [0, 1, 2, 3, 4].map((recipient) => ({ recipient, count: messages })),
  );
});
