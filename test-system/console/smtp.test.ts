import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SmtpClient } from '../../test/support/smtp-client.ts';
import { submissionEnvironment, templateMail } from '../../test/support/submission-shop.ts';
import { openConsoleWorld } from '../support/console-world.ts';

const { environment } = await submissionEnvironment();
const { browser, shop, service, signedIn } = await openConsoleWorld(environment);
const { port = 0, tlsPort = 0 } = service.app.submissionPorts();

test('SMTP: the page shows host, ports and user name, makes a password that sends, and puts it into the settings of programs', async () => {
  const visit = await signedIn({ separate: true });
  const { page } = visit;
  await visit.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await visit.open(`${shop.id}/keys`);
  await page.getByRole('link', { name: 'Developers' }).click();
  await page.getByRole('link', { name: 'SMTP' }).click();
  await page.getByRole('heading', { name: 'SMTP', level: 1 }).waitFor();
  const valueAt = (name: string) =>
    page.getByRole('row', { name: new RegExp(`^${name}`) }).locator('code');
  assert.equal(await valueAt('Host').textContent(), 'localhost');
  assert.equal(await valueAt('Port with STARTTLS').textContent(), String(port));
  assert.equal(await valueAt('Port with TLS').textContent(), String(tlsPort));
  assert.equal(await valueAt('User name').textContent(), shop.id);
  await page.getByRole('button', { name: 'Copy Host' }).click();
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'localhost');

  await page.getByText(`sp_${shop.id}_…`).first().waitFor();
  await page.getByRole('button', { name: 'Create API key' }).click();
  await page.getByText('Store it now').waitFor();
  const key = (await valueAt('Password').textContent()) ?? '';
  await page.getByText(`[localhost]:${port} ${shop.id}:${key}`).waitFor();
  await page.getByRole('tab', { name: 'GitLab' }).click();
  await page.getByText(`gitlab_rails['smtp_password'] = '${key}'`).waitFor();
  await visit.look('smtp-on-desk');

  const client = await SmtpClient.open({ port });
  await client.startTls();
  await client.greet();
  assert.match(await client.login(shop.id, key), /^235 /);
  assert.match(await client.submit(['ann@people.test'], templateMail()), /^250 /);
  await client.end();

  await visit.open(`${shop.id}/keys`);
  const row = page.getByRole('row', { name: /^SMTP/ });
  await row.getByText('Send only').waitFor();
  await visit.end();
});

for (const [device, options] of [
  ['phone', { phone: true }],
  ['dark', { dark: true }],
] as const)
  test(`SMTP: the settings of each program fit the screen on a ${device}`, async () => {
    const visit = await signedIn(options);
    const { page } = visit;
    await visit.open(`${shop.id}/smtp`);
    for (const name of ['Postfix', 'PHPMailer', 'Python', 'Nodemailer', 'Laravel', 'GitLab']) {
      await page.getByRole('tab', { name }).click();
      await page.getByText(String(port)).last().waitFor();
      await visit.look(`smtp-on-${name.toLowerCase()}-${device}`);
    }
    await visit.end();
  });

test('SMTP: the link leads to its section in the API reference', async () => {
  const visit = await signedIn();
  const { page } = visit;
  await visit.open(`${shop.id}/smtp`);
  const link = page.getByRole('link', { name: 'Send over SMTP' });
  const href = (await link.getAttribute('href')) ?? '';
  await visit.end();
  const context = await browser.newContext();
  const reference = await context.newPage();
  await reference.goto(service.url + href);
  const { hash } = new URL(reference.url());
  const heading = reference.getByRole('heading', { name: 'Send over SMTP' });
  assert.equal(await heading.getAttribute('id'), hash.slice(1));
  await context.close();
});
