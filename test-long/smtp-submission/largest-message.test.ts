import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { maxAttachmentLimit } from '../../src/accounts/account/account-settings.ts';
import { openDirectSubmission } from '../../test/support/direct-submission.ts';
import { readInbox } from '../../test/support/inbox-client.ts';
import { saveShop } from '../../test/support/shop.ts';
import { openSubmissionShop } from '../../test/support/submission-shop.ts';

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

function hashOf(text: string): string {
  return createHash('sha256').update(text, 'latin1').digest('hex');
}

test('RFC 1870: a message of 25 MiB is delivered byte for byte, if the account’s limit allows it', async () => {
  const message = messageOf(maxAttachmentLimit);
  await world.submit(
    'large@people.test',
    message,
    `MAIL FROM:<a@shop.test> SIZE=${message.length}`,
  );
  const { bytes, source, peer } = await world.mailTo('large@people.test');
  assert.equal(hashOf(source.slice(-message.length)), hashOf(message));
  assert.deepEqual(await world.dkimOf(bytes, peer), ['pass', 'pass']);
});

test('the inbox takes such a message, too', async () => {
  const local = await openSubmissionShop();
  await saveShop(local.shop.database, {
    id: local.shop.shop.id,
    attachmentLimit: maxAttachmentLimit,
  });
  const client = await local.login();
  const message = messageOf(maxAttachmentLimit);
  assert.match(await client.submit(['large@people.test'], message), /^250 /);
  const { url } = local.shop.service;
  const [mail] = await readInbox(url, '?to=large@people.test&wait=60');
  assert.equal(hashOf((mail?.source ?? '').slice(-message.length)), hashOf(message));
});
