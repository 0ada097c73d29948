import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { FeedbackShop } from '../../support/feedback-shop.ts';
import { SmtpClient } from '../../support/smtp-client.ts';
import { submissionEnvironment } from '../../support/submission-shop.ts';
import { TestAuthority } from '../../support/test-certificates.ts';
import { waitFor } from '../../support/wait-for.ts';

const { files } = await submissionEnvironment();
const shop = await FeedbackShop.open({
  BOUNCE_PORT: '0',
  BOUNCE_HOST: '127.0.0.1',
  BOUNCE_TLS_CERT: files.cert,
  BOUNCE_TLS_KEY: files.key,
});

async function openSession(): Promise<{ readonly client: SmtpClient; readonly subject: string }> {
  const client = await SmtpClient.open({ port: shop.service.app.bouncePort() ?? 0 });
  await client.greet();
  await client.startTls();
  const { CN } = (client.socket as TLSSocket).getPeerCertificate().subject;
  return { client, subject: String(CN) };
}

test('a renewed certificate of the bounce server is used by new sessions, and open ones go on', async () => {
  const open = await openSession();
  assert.equal(open.subject, 'localhost');
  const renewed = new TestAuthority().issue(['renewed.test']);
  await writeFile(files.key, renewed.key);
  await writeFile(files.cert, renewed.cert);
  await waitFor('the new certificate', async () => {
    const { client, subject } = await openSession();
    await client.end();
    return subject === 'renewed.test';
  });
  assert.match(await open.client.send('NOOP'), /^250 /);
});
