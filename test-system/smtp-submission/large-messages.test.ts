import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxAttachmentLimit } from '../../src/accounts/account/account-settings.ts';
import { addKey } from '../../test/support/api-key.ts';
import { openDirectSubmission } from '../../test/support/direct-submission.ts';
import { addSender, saveShop } from '../../test/support/shop.ts';
import { SmtpClient } from '../../test/support/smtp-client.ts';

const world = await openDirectSubmission('127.0.0.97', { address: '127.0.0.98', port: 0 });
const { database, shop } = world.direct;
await saveShop(database, { id: shop.id, attachmentLimit: maxAttachmentLimit });

const head = [
  'From: Demo Shop <orders@shop.test>',
  'To: reader@people.test',
  'Subject: Large',
  'Date: Thu, 1 Jan 2026 10:00:00 +0100',
  'Message-ID: <large@app.test>',
  'MIME-Version: 1.0',
  'Content-Type: text/plain; charset=us-ascii',
  '',
  '',
].join('\r\n');

/** A message of exactly so many bytes, each line of which differs from the others. */
function messageOf(bytes: number): string {
  const lines: string[] = [head];
  let left = bytes - head.length;
  for (let number = 0; left > 0; number += 1) {
    const length = left < 160 ? left : 78;
    const line = `.${number} `.padEnd(length - 2, String.fromCharCode(97 + (number % 26)));
    lines.push(line.slice(0, length - 2), '\r\n');
    left -= length;
  }
  const message = lines.join('');
  assert.equal(message.length, bytes);
  return message;
}

test('RFC 1870: one byte more is refused, at MAIL if its size is announced, otherwise after it was received', async () => {
  const message = messageOf(maxAttachmentLimit + 1);
  const client = await SmtpClient.open({ port: world.tlsPort, tls: true });
  await client.greet();
  assert.match(await client.login(shop.id, world.key), /^235 /);
  const announced = `MAIL FROM:<a@shop.test> SIZE=${message.length}`;
  assert.match(await client.send(announced), /^552 5\.3\.4 /);
  assert.match(await client.submit(['b@people.test'], message), /^552 5\.3\.4 /);
  assert.match(await client.submit(['b@people.test'], messageOf(2_000)), /^250 /);
  const mail = await world.mailTo('b@people.test');
  assert.ok(mail.source.length < 5_000);
});

test('with the usual limit, what is over it is refused, and the next one is taken', async () => {
  const id = await saveShop(database, { id: '46300' });
  await addSender(database, id, 'orders@shop.test', { displayNames: ['Demo Shop'] });
  const key = await addKey(database, id, { scopes: ['messages:send', 'messages:send-content'] });
  const client = await SmtpClient.open({ port: world.tlsPort, tls: true });
  await client.greet();
  assert.match(await client.login(id, key), /^235 /);
  const usual = 10 * 1_024 ** 2 + 256 * 1_024;
  assert.match(await client.submit(['c@people.test'], messageOf(usual + 1)), /^552 5\.3\.4 /);
  assert.match(await client.submit(['c@people.test'], messageOf(usual)), /^250 /);
});
