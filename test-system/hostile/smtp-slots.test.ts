import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { MessageId } from '../../src/base/values/ids.ts';
import { bounceSessionLimits } from '../../src/outcomes/bounce/start-bounce-server.ts';
import { ReturnPaths } from '../../src/sending/delivery/return-path.ts';
import { FeedbackShop } from '../../test/support/feedback-shop.ts';
import { SmtpClient } from '../../test/support/smtp-client.ts';
import { testKey } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const { commandsPerMessage, idleMs, messagesPerSession, sessions, transactionMs } =
  bounceSessionLimits;
const shop = await FeedbackShop.open({ BOUNCE_PORT: '0', BOUNCE_HOST: '0.0.0.0' });
const { clock } = shop;
await shop.publish('note', '<p>Note</p>');
const port = shop.service.app.bouncePort() ?? 0;
const report = String(
  await readFile(
    join(import.meta.dirname, '../../test/outcomes/bounce/mail-reports/postfix-mailbox-full.eml'),
    'latin1',
  ),
);

const paths = new ReturnPaths(testKey);

async function giveReport(client: SmtpClient, number: number, messageId: string): Promise<void> {
  const to = paths.make(
    { accountId: shop.shop.id, messageId: messageId as MessageId, recipient: 0 },
    'bounces.shop.test',
  );
  await client.send('MAIL FROM:<>', /^250 /);
  await client.send(`RCPT TO:<${to}>`, /^250 /);
  await client.send('DATA', /^354 /);
  await client.send(`X-Time: ${number}\r\n${report}\r\n.`, /^250 /);
}

test('ASVS 4.0.3 11.1.4: one IP address can’t hold all SMTP sessions, so others get in', async () => {
  const held = await Promise.all(
    Array.from({ length: sessions.total - sessions.reserve }, () => SmtpClient.open({ port })),
  );
  const refused = new SmtpClient({ port });
  assert.equal(
    await refused.reply(/^\d/),
    '421 4.7.0 Too many connections from your IP address, try again later',
  );
  await waitFor('the end of the refused one', () => refused.closed);
  const elsewhere = await SmtpClient.open({ port, from: '127.0.0.2' });
  await elsewhere.send('EHLO there', /^250 /);
  // A closed connection frees its slot.
  await held[0]?.end();
  await waitFor('a free slot', async () => {
    const again = new SmtpClient({ port });
    const free = (await again.reply(/^\d/)).startsWith('220');
    await again.end();
    return free;
  });
  for (const client of [...held, elsewhere]) await client.end();
});

test('RFC 5321 section 4.5.3.2.7: NOOP, RSET and HELP don’t keep a session alive', async () => {
  const client = await SmtpClient.open({ port, from: '127.0.0.3' });
  await client.send('EHLO there', /^250 /);
  for (let count = 1; count < commandsPerMessage; count += 1)
    await client.send(['NOOP', 'RSET', 'HELP'][count % 3] ?? '', /^2\d\d /);
  await client.send('NOOP', /^421 /);
  await waitFor('the end', () => client.closed);
});

test('RFC 5321 section 4.5.3.2.7: a session without a message ends after a minute; a session inside a message stays', async () => {
  const idle = await SmtpClient.open({ port, from: '127.0.0.4' });
  const busy = await SmtpClient.open({ port, from: '127.0.0.4' });
  await busy.send('EHLO there', /^250 /);
  await busy.send('MAIL FROM:<>', /^250 /);
  await clock.advance(idleMs + 1_000);
  await idle.reply(/^421 /);
  await waitFor('the end', () => idle.closed);
  await busy.send('NOOP', /^250 /);
  // RSET and a new MAIL don't extend the time.
  await busy.send('RSET', /^250 /);
  await busy.send('MAIL FROM:<>', /^250 /);
  await clock.advance(transactionMs - idleMs);
  await busy.reply(/^421 /);
  await waitFor('the end', () => busy.closed);
});

test('ASVS 4.0.3 11.1.4: a session has a message limit, and each message resets its command limit', async () => {
  const { id } = await shop.send('note');
  const client = await SmtpClient.open({ port, from: '127.0.0.5' });
  await client.send('EHLO there', /^250 /);
  for (let number = 0; number < messagesPerSession; number += 1)
    await giveReport(client, number, id);
  await client.send('MAIL FROM:<>', /^421 /);
  await waitFor('the end', () => client.closed);
  const next = await SmtpClient.open({ port, from: '127.0.0.5' });
  await next.send('EHLO there', /^250 /);
  await giveReport(next, 0, id);
});

test('ASVS 4.0.3 11.1.4: a hundred sessions that stop within a message, from ten networks, keep nobody out', async () => {
  const { id } = await shop.send('note');
  const { share, total } = sessions;
  const idle: SmtpClient[] = [];
  for (let network = 1; idle.length < total; network += 1)
    for (let count = 0; count < share; count += 1) {
      const client = await SmtpClient.open({ port, from: `127.1.${network}.1` });
      await client.send('EHLO there', /^250 /);
      await client.send('MAIL FROM:<>', /^250 /);
      idle.push(client);
    }
  const honest = await SmtpClient.open({ port, from: '127.2.0.1' });
  await honest.send('EHLO there', /^250 /);
  await giveReport(honest, 0, id);
  await waitFor('the end of the oldest', () => idle.filter(({ closed }) => closed).length === 1);
  assert.ok(idle[0]?.closed, 'it made least progress');
  // Those that come back end their own kind.
  const again = await SmtpClient.open({ port, from: '127.1.1.1' });
  await again.send('EHLO there', /^250 /);
  await giveReport(honest, 1, id);
  for (const client of [...idle, honest, again]) client.socket.destroy();
});
