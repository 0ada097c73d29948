import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccountId } from '../../../src/base/values/ids.ts';
import { maxSubmissionRecipients } from '../../../src/sending/smtp-submission/start-submission-server.ts';
import { addKey } from '../../support/api-key.ts';
import { readInbox } from '../../support/inbox-client.ts';
import { addSender, openShop, saveShop } from '../../support/shop.ts';
import type { SmtpClient } from '../../support/smtp-client.ts';
import { openSubmissionShop, templateMail } from '../../support/submission-shop.ts';

const world = await openSubmissionShop();
const { database, service } = world.shop;

interface StoredRow {
  readonly id: string;
  readonly to: string;
  readonly tx: string;
}

/** The messages with a tag, in the order of their recipients. */
async function stored(tag: string): Promise<StoredRow[]> {
  const { rows } = await database.pool.query<StoredRow>(
    `select id, content ->> 'to' as to, tx::text from message where tag = $1 order by 2`,
    [tag],
  );
  return rows;
}

async function suppress(address: string, reason: string): Promise<void> {
  await database.pool.query(
    'insert into suppression (account_id, address, reason) values ($1, $2, $3)',
    ['46100', address, reason],
  );
}

function tagged(tag: string, fields: Readonly<Record<string, string>> = {}): string {
  return templateMail({ 'Order Number': 'A-1' }, { 'X-Signalpost-Tag': tag, ...fields });
}

async function begin(client: SmtpClient, to: readonly string[]): Promise<void> {
  await client.send('MAIL FROM:<app@shop.test>', /^250 /);
  for (const address of to) await client.send(`RCPT TO:<${address}>`, /^250 /);
  await client.send('DATA', /^354 /);
}

test('each recipient gets a message of their own, and one commit stores all', async () => {
  const to = ['one@people.test', 'three@people.test', 'two@people.test'];
  const client = await world.login();
  assert.match(await client.submit(to, tagged('own')), /^250 2\.6\.0 Accepted as [0-9a-f-]{36}$/);
  const rows = await stored('own');
  assert.deepEqual(
    rows.map((row) => row.to),
    to,
  );
  assert.equal(new Set(rows.map(({ tx }) => tx)).size, 1);
  for (const address of to) {
    const [mail] = await readInbox(service.url, `?to=${address}&wait=60`);
    assert.deepEqual(mail?.envelopeTo, [address]);
    assert.ok(mail?.headers.to?.includes(address));
  }
});

test('an address that is given twice gets one message', async () => {
  const client = await world.login();
  assert.match(
    await client.submit(['twice@people.test', 'Twice@people.test'], tagged('twice')),
    /^250 /,
  );
  assert.equal((await stored('twice')).length, 1);
});

test('RFC 5321 section 4.5.3.1.10: too many recipients get 452, and the others get the message', async () => {
  const client = await world.login();
  await client.send('MAIL FROM:<app@shop.test>', /^250 /);
  for (let number = 1; number <= maxSubmissionRecipients; number += 1)
    await client.send(`RCPT TO:<n${number}@people.test>`, /^250 /);
  assert.match(await client.send('RCPT TO:<more@people.test>'), /^452 4\.5\.3 /);
  await client.send('DATA', /^354 /);
  assert.match(await client.send(`${tagged('many')}\r\n.`), /^250 /);
  const rows = await stored('many');
  assert.equal(rows.length, maxSubmissionRecipients);
  assert.equal(new Set(rows.map(({ tx }) => tx)).size, 1);
});

test('a recipient who can’t be sent to is refused at RCPT, and the others get the message', async () => {
  await suppress('bounced@people.test', 'hard_bounce');
  const client = await world.login();
  await client.send('MAIL FROM:<app@shop.test>', /^250 /);
  await client.send('RCPT TO:<fine@people.test>', /^250 /);
  assert.match(
    await client.send('RCPT TO:<Bounced@people.test>'),
    /^550 5\.7\.1 Recipient suppressed/,
  );
  assert.match(await client.send('RCPT TO:<no-domain@localhost.>'), /^(501|550) 5\.1\.3 /);
  await client.send('DATA', /^354 /);
  assert.match(await client.send(`${tagged('some')}\r\n.`), /^250 /);
  assert.deepEqual(
    (await stored('some')).map(({ to }) => to),
    ['fine@people.test'],
  );
});

test('RFC 6531 section 3.5: an address with other letters needs SMTPUTF8', async () => {
  const client = await world.login();
  await client.send('MAIL FROM:<app@shop.test>', /^250 /);
  assert.match(await client.send('RCPT TO:<jürgen@people.test>'), /^553 5\.6\.7 /);
  await client.send('RSET', /^250 /);
  assert.match(
    await client.submit(
      ['jürgen@people.test'],
      tagged('utf8'),
      'MAIL FROM:<app@shop.test> SMTPUTF8',
    ),
    /^250 /,
  );
});

test('one unsubscribed recipient stops a message that isn’t transactional, and no other', async () => {
  await suppress('quiet@people.test', 'unsubscribe');
  const to = ['loud@people.test', 'quiet@people.test'];
  const client = await world.login();
  assert.match(
    await client.submit(to, tagged('marketing')),
    /^550 5\.7\.1 Recipient suppressed: quiet@people\.test /,
  );
  assert.deepEqual(await stored('marketing'), []);
  const fields = { 'X-Signalpost-Transactional': 'true' };
  assert.match(await client.submit(to, tagged('receipt', fields)), /^250 /);
  assert.equal((await stored('receipt')).length, 2);
});

test('no reply covers only some recipients: one suppressed after RCPT makes the client retry', async () => {
  const client = await world.login();
  await begin(client, ['late@people.test', 'other@people.test']);
  await suppress('late@people.test', 'hard_bounce');
  assert.match(await client.send(`${tagged('race')}\r\n.`), /^451 4\.7\.1 /);
  assert.deepEqual(await stored('race'), []);
  await client.send('MAIL FROM:<app@shop.test>', /^250 /);
  assert.match(await client.send('RCPT TO:<late@people.test>'), /^550 5\.7\.1 /);
  await client.send('RCPT TO:<other@people.test>', /^250 /);
  await client.send('DATA', /^354 /);
  assert.match(await client.send(`${tagged('race')}\r\n.`), /^250 /);
  assert.deepEqual(
    (await stored('race')).map(({ to }) => to),
    ['other@people.test'],
  );
});

test('a quota that is too small for all recipients stores and counts none', async () => {
  const id = '46300' as AccountId;
  await openShop(database, { id });
  await saveShop(database, { id, quota: { perHour: 3, perDay: undefined } });
  const key = await addKey(database, id, { scopes: ['messages:send', 'messages:send-content'] });
  const client = await world.open();
  await client.login(id, key);
  const four = ['a@people.test', 'b@people.test', 'c@people.test', 'd@people.test'];
  assert.match(
    await client.submit(four, tagged('quota')),
    /^5\d\d 5\..*4 recipients, but .*permits 3/,
  );
  assert.deepEqual(await stored('quota'), []);
  assert.match(await client.submit(four.slice(1), tagged('quota')), /^250 /);
  assert.equal((await stored('quota')).length, 3);
});

test('the account’s archive gets a copy of each message', async () => {
  const id = '46400' as AccountId;
  await openShop(database, { id, archiveAddress: 'archive@shop.test' as never });
  await addSender(database, id, 'orders@shop.test', { displayNames: ['Demo Shop'] });
  const key = await addKey(database, id, { scopes: ['messages:send', 'messages:send-content'] });
  const client = await world.open();
  await client.login(id, key);
  assert.match(
    await client.submit(['x@people.test', 'archive@shop.test'], tagged('archive')),
    /^250 /,
  );
  const { rows } = await database.pool.query(
    `select content ->> 'to' as to, content ->> 'archive' as copy from message where tag = 'archive' order by 1`,
  );
  assert.deepEqual(rows, [
    { to: 'archive@shop.test', copy: null },
    { to: 'x@people.test', copy: 'archive@shop.test' },
  ]);
});
