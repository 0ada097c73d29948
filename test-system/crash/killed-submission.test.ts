import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addKey } from '../../test/support/api-key.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { serviceTokens } from '../../test/support/service-tokens.ts';
import { openShop } from '../../test/support/shop.ts';
import { SmtpClient } from '../../test/support/smtp-client.ts';
import { submissionEnvironment, templateMail } from '../../test/support/submission-shop.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { waitForLock } from '../../test/support/wait-for-lock.ts';
import { freePort } from '../support/free-port.ts';

const { database, url } = await createTestDatabase();
const shop = await openShop(database);
const key = await addKey(database, shop.id, { scopes: ['messages:send', 'messages:send-content'] });
const { environment } = await submissionEnvironment();
const { SUBMISSION_PORT: _, ...settings } = environment;

async function start() {
  const port = await freePort();
  const service = runSignalpost(['serve', '--role', 'http,smtp', '--processes', '1'], {
    DATABASE_URL: url,
    PORT: '0',
    LOG_LEVEL: 'error',
    SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
    ...serviceTokens,
    ...settings,
    SUBMISSION_TLS_PORT: String(port),
  });
  await service.printed(/running at /);
  return {
    async login(): Promise<SmtpClient> {
      const client = await SmtpClient.open({ port, tls: true });
      await client.greet();
      assert.match(await client.login(shop.id, key), /^235 /);
      return client;
    },
    async kill(): Promise<void> {
      service.child.kill('SIGKILL');
      await service.exit;
    },
  };
}

const to = ['one@people.test', 'two@people.test', 'three@people.test'];

function messageOf(tag: string): string {
  return templateMail(
    { 'Order Number': 'A-1' },
    { 'Message-ID': `<${tag}@app.test>`, 'X-Signalpost-Tag': tag },
  );
}

async function count(tag: string): Promise<number> {
  const { rowCount } = await database.pool.query('select from message where tag = $1', [tag]);
  return rowCount ?? 0;
}

/** Sends everything, and the final dot, without waiting for the reply. */
async function sendDot(client: SmtpClient, tag: string): Promise<void> {
  await client.send('MAIL FROM:<app@shop.test>', /^250 /);
  for (const address of to) await client.send(`RCPT TO:<${address}>`, /^250 /);
  await client.send('DATA', /^354 /);
  client.socket.write(`${messageOf(tag)}\r\n.\r\n`);
}

test('kill -9 while the commit waits: the repeated message is stored once for each recipient', async () => {
  const first = await start();
  const client = await first.login();
  const blocker = await database.pool.connect();
  await blocker.query('begin; lock table idempotency_key in exclusive mode');
  await sendDot(client, 'waiting');
  await waitForLock(database);
  await first.kill();
  await blocker.query('rollback');
  blocker.release();
  assert.doesNotMatch(client.pending, /250/);
  const second = await start();
  const again = await second.login();
  assert.match(await again.submit(to, messageOf('waiting')), /^250 /);
  assert.equal(await count('waiting'), to.length);
  await second.kill();
});

test('kill -9 right after the commit: the repeated message is not stored again', async () => {
  const first = await start();
  const client = await first.login();
  // Nothing is read from now on, as if the reply got lost.
  client.socket.pause();
  client.socket.removeAllListeners('data');
  client.socket.write(
    ['MAIL FROM:<app@shop.test>', ...to.map((address) => `RCPT TO:<${address}>`), 'DATA', ''].join(
      '\r\n',
    ),
  );
  client.socket.write(`${messageOf('lost')}\r\n.\r\n`);
  await waitFor('the commit', async () => (await count('lost')) > 0);
  await first.kill();
  assert.equal(await count('lost'), to.length);
  const second = await start();
  const again = await second.login();
  assert.match(await again.submit([...to].reverse(), messageOf('lost')), /^250 /);
  assert.equal(await count('lost'), to.length);
  await second.kill();
});
