import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessageId } from '../../src/base/values/ids.ts';
import { ReplyAddresses } from '../../src/content/message/reply-address.ts';
import { plainReply } from '../../test/support/reply-shop.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { bodyWith, SendClient } from '../../test/support/send-client.ts';
import { serviceTokens } from '../../test/support/service-tokens.ts';
import { getToken, openShop } from '../../test/support/shop.ts';
import { SmtpClient } from '../../test/support/smtp-client.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { TestDns } from '../../test/support/test-dns.ts';
import { startTestService, testKey } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { freePort } from '../support/free-port.ts';

const { database, url } = await createTestDatabase();
const shop = await openShop(database);
const dns = await new TestDns().start();

async function start() {
  const port = await freePort();
  const service = runSignalpost(['serve', '--role', 'http,smtp', '--processes', '1'], {
    DATABASE_URL: url,
    PORT: '0',
    LOG_LEVEL: 'error',
    SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
    BOUNCE_PORT: String(port),
    BOUNCE_HOST: '127.0.0.1',
    DNS_SERVERS: dns.server,
    ...serviceTokens,
  });
  await service.printed(/running at /);
  return {
    output: service.output,
    async open(): Promise<SmtpClient> {
      const client = await SmtpClient.open({ port });
      await client.greet();
      return client;
    },
    async kill(): Promise<void> {
      service.child.kill('SIGKILL');
      await service.exit;
    },
  };
}

async function count(table: 'message_reply' | 'message_event'): Promise<number> {
  const { rowCount } = await database.pool.query(
    `select from ${table} ${table === 'message_event' ? `where kind = 'replied'` : ''}`,
  );
  return rowCount ?? 0;
}

/** Sends a message that receives replies. @returns its reply address */
async function send(): Promise<string> {
  const accepting = await startTestService({ databaseUrl: url, worker: false });
  const response = await new SendClient(accepting, await getToken(accepting, shop)).send({
    body: bodyWith({ actions: { receiveReplies: true } }),
  });
  assert.equal(response.status, 200, response.text);
  await accepting.stop();
  const messageId = response.body.messageId as MessageId;
  return new ReplyAddresses(testKey).make(shop.id, messageId, 'bounces.shop.test');
}

test('kill -9 between the commit and the reply: the mail is sent again, and stored once', async () => {
  const to = await send();
  const source = plainReply();
  const first = await start();
  const client = await first.open();
  await client.send('MAIL FROM:<ada@customer.test>', /^250 /);
  await client.send(`RCPT TO:<${to}>`, /^250 /);
  await client.send('DATA', /^354 /);
  // Nothing is read from now on, as if the reply got lost.
  client.socket.pause();
  client.socket.removeAllListeners('data');
  client.socket.write(`${source}.\r\n`);
  await waitFor('the commit', async () => (await count('message_reply')) > 0);
  await first.kill();
  const second = await start();
  const again = await second.open();
  assert.match(await again.submit([to], source), /^250 /);
  assert.equal(await count('message_reply'), 1);
  assert.equal(await count('message_event'), 1);
  await second.kill();
});

test('what a library prints about a reply is kept out of the log', async () => {
  const to = await send();
  const service = await start();
  const before = service.output.stdout;
  const client = await service.open();
  const signature =
    'v=1; a=rsa-sha256; c=simple/simple; d=customer.test; s=x; l=9999; h=from; bh=AAA=; b=AAA=';
  const source = plainReply({ 'DKIM-Signature': signature });
  assert.match(await client.submit([to], source), /^250 /);
  await service.kill();
  assert.equal(service.output.stdout, before);
});
