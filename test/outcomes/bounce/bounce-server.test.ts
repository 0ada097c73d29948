import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTransport } from 'nodemailer';
import { SignedLocalParts } from '../../../src/base/secrets/signed-local-part.ts';
import { type MessageId, newMessageId } from '../../../src/base/values/ids.ts';
import { accountTagSql } from '../../../src/content/message/message-sql.ts';
import { ReturnPaths } from '../../../src/sending/delivery/return-path.ts';
import { FeedbackShop } from '../../support/feedback-shop.ts';
import { testKey } from '../../support/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

const shop = await FeedbackShop.open({ BOUNCE_PORT: '0', BOUNCE_HOST: '127.0.0.1' });
await shop.publish('note', '<p>Note</p>');
const paths = new ReturnPaths(testKey);
const port = shop.service.app.bouncePort();

async function report(name: string): Promise<Buffer> {
  return readFile(join(import.meta.dirname, 'mail-reports', `${name}.eml`));
}

async function deliver(to: string | string[], raw: Buffer): Promise<unknown> {
  const transport = createTransport({ host: '127.0.0.1', port });
  try {
    return await transport.sendMail({ envelope: { from: '', to }, raw });
  } finally {
    transport.close();
  }
}

const pathOf = (messageId: string, recipient = 0): string =>
  paths.make(
    { accountId: shop.shop.id, messageId: messageId as MessageId, recipient },
    'bounces.shop.test',
  );

test('a bounce by mail becomes an event of its message and suppresses the recipient', async () => {
  const { id } = await shop.send('note', { to: 'Victim@people.test' });
  await deliver(pathOf(id).toUpperCase(), await report('postfix-user-unknown'));
  const [event] = await shop.events(id, 'bounced');
  assert.equal(event?.recipient, 0);
  assert.equal(event?.detail.cause, 'no-mailbox');
  assert.equal(event?.detail.status, '5.1.1');
  assert.equal(event?.detail.by, 'mail');
  assert.equal(await shop.state(id), 'delivered');
  await waitFor('the suppression', async () => {
    const { rows } = await shop.database.pool.query(
      'select address, reason, message_id from suppression',
    );
    // Not ann@people.test, whom the bounce names.
    return (
      rows.length > 0 &&
      assert.deepEqual(rows, [
        { address: 'victim@people.test', reason: 'hard_bounce', message_id: id },
      ]) === undefined
    );
  });
});

test('repeating a bounce changes nothing', async () => {
  const { id } = await shop.send('note');
  await deliver(pathOf(id), await report('postfix-mailbox-full'));
  await deliver(pathOf(id), await report('postfix-mailbox-full'));
  assert.equal((await shop.events(id, 'bounced')).length, 1);
});

test('a return path without an account, from an earlier release, still works', async () => {
  const { id } = await shop.send('note');
  const local = new SignedLocalParts(testKey.keysFor('return path'), 'b-', 17);
  const named = Buffer.from(`${id.replaceAll('-', '')}00`, 'hex');
  await deliver(`${local.write(named)}@bounces.shop.test`, await report('postfix-mailbox-full'));
  assert.equal((await shop.events(id, 'bounced')).length, 1);
  // It is the same report.
  await deliver(pathOf(id), await report('postfix-mailbox-full'));
  assert.equal((await shop.events(id, 'bounced')).length, 1);
});

test('the account of a return path or reply address is found by an index', async () => {
  const { rows } = await shop.database.pool
    .query(
      `begin; set local enable_seqscan = off; set local plan_cache_mode = force_generic_plan;
     explain select id from account where ${accountTagSql('id')} = decode('00', 'hex'); rollback`,
    )
    .then(
      (results) =>
        (results as unknown as { rows: object[] }[]).find((one) => one.rows.length > 0) ?? {
          rows: [],
        },
    );
  assert.match(JSON.stringify(rows), /account_tag/);
});

test('a bounce with text that the database cannot store is kept without it', async () => {
  const { id } = await shop.send('note', { to: 'control@people.test' });
  const plain = (await report('postfix-user-unknown')).toString('latin1');
  assert.match(plain, /unknown/i);
  await deliver(
    pathOf(id),
    Buffer.from(plain.replaceAll('nknown', 'nkn=00own').replaceAll('nkn=00own', 'nknown\0')),
  );
  const [event] = await shop.events(id, 'bounced');
  assert.equal(event?.detail.cause, 'no-mailbox');
  assert.doesNotMatch(String(event?.detail.reason), /\p{Cc}/u);
});

test('a complaint of a Cc recipient is recorded for that recipient', async () => {
  const { id } = await shop.send('note', { cc: ['one@people.test', 'two@people.test'] });
  await deliver(pathOf(id, 2), await report('arf-rfc5965'));
  const [event] = await shop.events(id, 'complained');
  assert.equal(event?.recipient, 2);
  assert.equal(event?.detail.feedbackType, 'abuse');
  assert.equal(event?.detail.namedRecipient, 'another address');
});

/** A report of one recipient (RFC 3464). */
const statusOf = (...fields: string[]): Buffer =>
  Buffer.from(
    [
      'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
      '',
      '--b',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; mx.people.test',
      '',
      ...fields,
      'Action: failed',
      'Status: 5.1.1',
      '',
      '--b--',
    ].join('\r\n'),
  );

test('a report counts for the recipient whose return path it came to, and the event says whom else it names', async () => {
  for (const [place, [fields, named]] of [
    [['Final-Recipient: rfc822; Second@people.test'], undefined],
    [
      ['Original-Recipient: rfc822;second@people.test', 'Final-Recipient: rfc822; x@y.test'],
      undefined,
    ],
    [['Final-Recipient: rfc822; first@people.test'], '<to>'],
    [['Final-Recipient: rfc822; <third@people.test>'], '<cc 2>'],
    [['Final-Recipient: rfc822; moved@elsewhere.test'], 'another address'],
    [['Final-Recipient: LOCAL; second'], undefined],
  ].entries() as ArrayIterator<[number, [string[], string | undefined]]>) {
    const cc = [`second@people.test`, 'third@people.test'];
    const { id } = await shop.send('note', { to: 'first@people.test', cc });
    await deliver(pathOf(id, 1), statusOf(...fields));
    const [event, ...others] = await shop.events(id, 'bounced');
    assert.equal(event?.recipient, 1, `${place}`);
    assert.equal(event?.detail.namedRecipient, named, fields.join());
    assert.deepEqual(others, []);
    await waitFor('the suppression', async () => {
      const { rows } = await shop.database.pool.query<{ address: string }>(
        'delete from suppression where message_id = $1 returning address',
        [id],
      );
      assert.ok(rows.every(({ address }) => address === 'second@people.test'));
      return rows.length > 0;
    });
  }
});

test('knowing the return path of a message is not enough to fill the table with bounces', async () => {
  const { id } = await shop.send('note');
  const bounce = String(await report('postfix-mailbox-full'));
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    pool: true,
    maxConnections: 1,
    maxMessages: 1_000,
  });
  try {
    for (let time = 0; time < 60; time += 1) {
      const raw = `X-Time: ${time}\r\n${bounce}`;
      await transport.sendMail({ envelope: { from: '', to: pathOf(id) }, raw });
    }
  } finally {
    transport.close();
  }
  assert.equal((await shop.events(id, 'bounced')).length, 50);
  // Another kind of feedback about it still counts, and so does feedback about other messages.
  await deliver(pathOf(id), await report('arf-rfc5965'));
  assert.equal((await shop.events(id, 'complained')).length, 1);
  const { id: other } = await shop.send('note');
  await deliver(pathOf(other), await report('postfix-mailbox-full'));
  assert.equal((await shop.events(other, 'bounced')).length, 1);
});

test('a bounce with a large message in it is accepted up to the announced size', async () => {
  const { id } = await shop.send('note');
  const bounce = await report('postfix-mailbox-full');
  const padding = (bytes: number): Buffer => Buffer.alloc(bytes, `${'x'.repeat(76)}\r\n`);
  await deliver(pathOf(id), Buffer.concat([bounce, padding(24 * 1024 ** 2)]));
  assert.equal((await shop.events(id, 'bounced')).length, 1);
  await assert.rejects(
    deliver(pathOf(id), Buffer.concat([bounce, padding(26 * 1024 ** 2)])),
    /552/,
  );
});

test('mail that says nothing about delivery is accepted and discarded', async () => {
  const { id } = await shop.send('note');
  for (const name of ['auto-reply-vacation', 'person-answers', 'read-receipt', 'postfix-delivered'])
    await deliver(pathOf(id), await report(name));
  assert.deepEqual(await shop.events(id, 'bounced', 'complained', 'delayed'), []);
});

test('RFC 5321 4.5.1, RFC 2142: postmaster and feedback addresses exist, and take complaints that name a return path', async () => {
  const { id } = await shop.send('note');
  const arf = String(await report('arf-rfc5965'));
  assert.match(arf, /^Original-Mail-From: .*$/m);
  const about = (path: string) =>
    Buffer.from(arf.replace(/^Original-Mail-From: .*$/m, `Original-Mail-From: <${path}>`));
  await deliver('fbl@bounces.shop.test', about(pathOf(id)));
  assert.equal((await shop.events(id, 'complained')).length, 1);
  const { id: other } = await shop.send('note');
  const returned = arf
    .replace(/^Original-Mail-From: .*\r?\n/m, '')
    .replace(/^Return-Path: .*$/m, `Return-Path: <${pathOf(other)}>`);
  await deliver('abuse@bounces.shop.test', Buffer.from(returned));
  assert.equal((await shop.events(other, 'complained')).length, 1);
  // Nobody would read it.
  for (const raw of [about('ann@people.test'), await report('person-answers')])
    await assert.rejects(deliver('postmaster@bounces.shop.test', raw), /550 .*Nobody reads mail/);
});

test('addresses that were not created here and a second recipient are rejected', async () => {
  const raw = await report('postfix-user-unknown');
  const real = pathOf(newMessageId());
  const forged = `${real[2] === 'a' ? 'b-b' : 'b-a'}${real.slice(3)}`;
  for (const to of ['postmaster@bounces.shop.test', 'b-@x.test', forged])
    await assert.rejects(deliver(to, raw), /550/);
  const info = (await deliver([real, real.replace('bounces', 'other')], raw)) as {
    rejected: string[];
  };
  assert.equal(info.rejected.length, 1);
});

test('a bounce of a message that is no longer stored is accepted, so that it is not retried', async () => {
  await deliver(pathOf(newMessageId()), await report('postfix-user-unknown'));
});
