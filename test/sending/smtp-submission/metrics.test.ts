import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceTokens } from '../../support/service-tokens.ts';
import { SmtpClient } from '../../support/smtp-client.ts';
import { openSubmissionShop, templateMail } from '../../support/submission-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const world = await openSubmissionShop();

/** The value of a series; 0 if there is none. */
async function read(series: string): Promise<number> {
  const { METRICS_TOKEN: token } = serviceTokens;
  const { url } = world.shop.service;
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  const line = (await response.text()).split('\n').find((one) => one.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
}

const replies = (command: string, code: number) =>
  read(`signalpost_submission_replies_total{command="${command}",code="${code}"}`);

test('open sessions of both ports are counted', async () => {
  const sessions = () => read('signalpost_submission_sessions');
  assert.equal(await sessions(), 0);
  const tls = await world.login();
  const plain = await SmtpClient.open({ port: world.port });
  assert.equal(await sessions(), 2);
  await Promise.all([tls.end(), plain.end()]);
  await waitFor('the end of both', async () => (await sessions()) === 0);
});

test('replies are counted by command and code', async () => {
  const before = [await replies('AUTH', 235), await replies('DATA', 250)];
  const client = await world.open();
  assert.match(await client.login('46100', 'no key'), /^535 /);
  assert.equal(await replies('AUTH', 535), 1);
  await client.end();
  const known = await world.login();
  assert.match(await known.submit(['a@people.test'], templateMail()), /^250 /);
  assert.match(await known.submit(['a@people.test'], templateMail('no json')), /^554 /);
  const after = [await replies('AUTH', 235), await replies('DATA', 250)];
  assert.deepEqual(
    after.map((count, at) => count - (before[at] ?? 0)),
    [1, 1],
  );
  assert.equal(await replies('DATA', 554), 1);
  assert.match(await known.submit(['suppressed@simulator.test'], templateMail()), /^550 /);
  assert.equal(await replies('RCPT', 550), 1);
});

test('/metrics tells when the certificate expires', async () => {
  const seconds = await read('signalpost_submission_certificate_expiry_timestamp_seconds');
  const days = (seconds * 1_000 - Date.now()) / 86_400_000;
  assert.ok(days > 0 && days <= 365, String(seconds));
});
