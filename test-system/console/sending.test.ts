import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { signInToManagement } from '../../test/support/management-client.ts';
import { TestDns } from '../../test/support/test-dns.ts';
import { startTestService } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { openConsoleWorld } from '../support/console-world.ts';
import { freePort } from '../support/free-port.ts';

const dns = await new TestDns().start();
// The service's own host, which SPF records refer to.
dns.set('mail.signalpost.test', { A: ['192.0.2.10'] });
const { database, service, shop, it, signedIn } = await openConsoleWorld({
  DNS_SERVERS: dns.server,
  SMTP_HOSTNAME: 'mail.signalpost.test',
});

/** Publishes the records on the page, as a person who copies them into the DNS. */
async function publishShownRecords(page: Page): Promise<void> {
  await page.getByText('3 records for later').click();
  for (const card of await page.getByRole('article').all()) {
    const type = (await card.locator('dd').nth(0).textContent()) ?? '';
    const name = (await card.locator('dd').nth(1).locator('code').textContent()) ?? '';
    const value = (await card.locator('dd').nth(2).locator('code').textContent()) ?? '';
    const zone = dns.zones.get(name) ?? {};
    if (type === 'TXT') dns.set(name, { ...zone, TXT: [...(zone.TXT ?? []), value] });
    if (type === 'MX') {
      const priority = await card.locator('dd').nth(3).locator('code').textContent();
      dns.set(name, { ...zone, MX: [[Number(priority), value]] });
    }
  }
}

it('domains: the records on the page are published and verified; keys are rotated and a warm-up starts', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/domains`);
  await page.getByText('No domains yet').waitFor();
  await page.getByRole('button', { name: 'Add a domain' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Domain').fill('shop.test');
  await dialog.getByRole('button', { name: 'Add a domain' }).click();
  await page.waitForURL(/domains\/shop\.test$/);
  await page.getByRole('button', { name: 'Check now' }).click();
  await page.getByText('2 records missing').waitFor();
  await page.getByText('2 records are missing. New records can take up to an hour').waitFor();
  await visit.look('domain-missing');

  // Nothing is clicked: the open page checks by itself.
  await publishShownRecords(page);
  await page.getByText('Verified', { exact: true }).waitFor();
  await page.getByText('2 of 2 required records valid').waitFor();
  await page.getByText('3 more records').waitFor();
  await visit.look('domain-verified');
  const { rows } = await database.pool.query(
    `select verified_by from sender where address = 'new@shop.test'`,
  );
  assert.equal(rows[0]?.verified_by, 'domain', 'the domain verifies its senders');

  await page.getByRole('button', { name: 'Actions for shop.test' }).click();
  await page.getByRole('menuitem', { name: 'Rotate keys' }).click();
  await dialog.getByRole('button', { name: 'Rotate keys' }).click();
  await page.getByText('New keys created.').waitFor();
  await page.getByRole('heading', { name: 'DKIM' }).nth(1).waitFor();

  // The address is the first of the list, but nothing signs its mail.
  await database.pool.query(
    `insert into sender (account_id, address, display_names, verified_at)
     values ($1, 'aaa@other.test', '{}', now())`,
    [shop.id],
  );
  await visit.move(`${shop.id}/templates`);
  await page.getByRole('button', { name: 'New template' }).click();
  await dialog.getByRole('radio', { name: 'Welcome' }).click();
  await dialog.getByRole('button', { name: 'Create template' }).click();
  await page.waitForURL(/templates\/welcome$/);
  assert.match(
    await page.getByRole('combobox', { name: 'Sender' }).inputValue(),
    /@shop\.test$/,
    'a sender whose domain is set up',
  );
  await visit.open(`${shop.id}/domains/shop.test`);
  // The page checks the records, and what it finds may move the button under the mouse.
  await visit.settle();
  await page.getByRole('button', { name: 'Start warm-up' }).click();
  await dialog.getByLabel('Target recipients per day').fill('400');
  await visit.look('warm-up-dialog');
  await dialog.getByRole('button', { name: 'Start warm-up' }).click();
  await page.getByText('Day 1 of 6: up to 50 messages today.').waitFor();
  await page.getByText('50 → 71 → 100 → 141 → 200 → 283 → no limit').waitFor();
  await visit.look('domain-warm-up');
});

it('domains: a wrong record is shown with its value, and records as the DNS provider asks for them; an invalid domain is rejected', async (visit) => {
  const { page } = visit;
  dns.set('_dmarc.wrong.test', { TXT: ['v=DMARC1; p=nonsense'] });
  dns.set('wrong.test', { NS: ['ann.ns.cloudflare.com', 'bob.ns.cloudflare.com'] });
  await visit.open(`${shop.id}/domains`);
  await page.getByRole('button', { name: 'Add a domain' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Domain').fill('no dots');
  await dialog.getByRole('button', { name: 'Add a domain' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByRole('textbox', { name: 'Domain' }).fill('wrong.test');
  await dialog.getByRole('button', { name: 'Add a domain' }).click();
  await page.waitForURL(/domains\/wrong\.test$/);
  await page.getByRole('button', { name: 'Check now' }).click();
  const card = page.getByRole('article', { name: 'DMARC' });
  await card.getByRole('alert').getByText('v=DMARC1; p=nonsense').waitFor();
  await card.getByText('Invalid', { exact: true }).waitFor();
  await card.getByText('Replace it with:').waitFor();
  await page.getByText('1 invalid, 1 missing').waitFor();
  await page.getByText('1 record is invalid, 1 missing. New records can take').waitFor();
  await page.getByText('wrong.test is hosted at Cloudflare.').waitFor();
  await page.getByText('3 records for later').click();
  const boxes = page.getByRole('article', { name: 'Return path', exact: true }).locator('dl');
  const shown = async () => (await boxes.innerText()).split(/\s*\n\s*/);
  const host = 'mail.signalpost.test';
  assert.deepEqual(await shown(), [
    ...['Type', 'MX', 'Name', 'bounces', 'Mail server', host, 'Priority', '10'],
  ]);
  await visit.look('domain-cloudflare');
  await page.getByLabel('DNS provider').selectOption('Amazon Route 53');
  assert.deepEqual(await shown(), [
    ...['Type', 'MX', 'Record name', 'bounces', 'Value', `10 ${host}`],
  ]);
  assert.match(await card.locator('dl').innerText(), /"v=DMARC1; p=none;/);
  await page.getByRole('button', { name: 'Actions for wrong.test' }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await dialog.getByLabel('Type wrong.test to confirm').fill('wrong.test');
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await page.waitForURL(/domains$/);
});

test('domains: missing settings are named before the records, which never name the machine', async () => {
  const databaseUrl = service.config.databaseUrl ?? '';
  const relay = await startTestService({
    databaseUrl,
    environment: {
      PORT: String(await freePort()),
      DNS_SERVERS: dns.server,
      DELIVERY: 'relay',
      SMTP_URL: 'smtp://127.0.0.1:25',
      SMTP_HOSTNAME: '',
    },
  });
  const visit = await signedIn();
  const { page } = visit;
  await visit.open(`${shop.id}/domains`);
  await page.getByRole('button', { name: 'Add a domain' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Domain').fill('nameless.test');
  await dialog.getByRole('button', { name: 'Add a domain' }).click();
  await page.waitForURL(/domains\/nameless\.test$/);
  await page.goto(`${relay.url}/console/${shop.id}/domains/nameless.test`);
  const missing = page.getByRole('alert').filter({ hasText: 'SMTP_HOSTNAME' });
  await missing.getByText(/PUBLIC_URL/).waitFor();
  await visit.look('domain-incomplete');
  const records = page.getByRole('article');
  const [notice, record] = [await missing.boundingBox(), await records.first().boundingBox()];
  assert.ok((notice?.y ?? Infinity) < (record?.y ?? 0));
  // A key can have any two letters.
  const text = (await records.allTextContents()).join().replace(/p=[\w+/=]{100,}/, '');
  assert.match(text, /v=DMARC1/);
  assert.doesNotMatch(text, new RegExp(`v=spf1|MX|${hostname()}`));
  await visit.close();
});

it('senders: an operator marks an address as verified once that is confirmed, and the audit log records it', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/senders`);
  await page.getByRole('button', { name: 'Add a sender' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Address').fill('marked@other.test');
  await dialog.getByRole('button', { name: 'Add and send link' }).click();
  const row = page.getByRole('row', { name: /marked@other\.test/ });
  await row.getByRole('button', { name: 'Actions for marked@other.test' }).click();
  await page.getByRole('menuitem', { name: 'Mark as verified' }).click();
  await dialog.getByText('This skips the confirmation.').waitFor();
  await visit.look('sender-mark');
  await dialog.getByRole('button', { name: 'Mark as verified' }).click();
  await row.getByText('Verified', { exact: true }).waitFor();
  await visit.move(`${shop.id}/audit`);
  await page
    .getByText(/ sender “marked@other\.test”/)
    .first()
    .waitFor();
});

it('senders: removal requires typing the address; an invalid address is rejected at its field', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/senders`);
  await page.getByRole('button', { name: 'Add a sender' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Address').fill('gone@other.test');
  await dialog.getByRole('button', { name: 'Add and send link' }).click();
  const row = page.getByRole('row', { name: /gone@other\.test/ });
  await row.getByRole('button', { name: 'Actions for gone@other.test' }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  assert.equal(await dialog.getByRole('button', { name: 'Remove' }).isDisabled(), true);
  await dialog.getByLabel('Type gone@other.test to confirm').fill('gone@other.test');
  await visit.look('confirm-by-name');
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await row.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Add a sender' }).first().click();
  await dialog.getByLabel('Address').fill('a@b');
  await dialog.getByLabel('Display names').fill('x'.repeat(300));
  await dialog.getByLabel('Display names').press('Enter');
  await dialog.getByRole('button', { name: 'Add and send link' }).click();
  await dialog.getByRole('alert').waitFor();
});

it('destinations: mail to a paused domain is shown as waiting and is sent once the domain is resumed; an invalid domain is rejected', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/destinations`);
  await page.getByText('No mail waiting').waitFor();
  await page.getByRole('button', { name: 'Pause a domain' }).click();
  const pausing = page.getByRole('dialog');
  await pausing.getByLabel('Domain').fill('no domain');
  await pausing.getByRole('button', { name: 'Pause', exact: true }).click();
  await pausing.getByRole('alert').waitFor();
  await pausing.getByLabel('Domain').fill('held.test');
  await pausing.getByRole('button', { name: 'Pause', exact: true }).click();
  await page.getByText('Paused', { exact: true }).waitFor();
  await visit.move(`${shop.id}/templates/t-0001`);
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByRole('dialog').getByLabel('To').fill('bob@held.test');
  await page.getByRole('dialog').getByRole('button', { name: 'Send a test' }).click();
  await page.getByRole('link', { name: 'Open the message' }).click();
  // The dialog of the test, which is closing, says it too.
  await page
    .getByRole('main')
    .getByRole('status', { name: 'Paused' })
    .getByText('Mail to held.test is paused.')
    .waitFor();
  assert.equal(await page.getByText(/^(Status: |Queued|Held)/).count(), 0, 'it says one thing');
  await visit.look('message-held');
  const message = page.url();
  await visit.open(`${shop.id}/destinations`);
  const held = page.getByRole('row', { name: /held\.test/ });
  await held.getByText('Paused', { exact: true }).waitFor();
  assert.equal(await held.locator('time').count(), 0, 'no attempts while it is paused');
  assert.equal(await held.getByRole('button', { name: 'Retry now' }).count(), 0);
  await visit.look('destinations');
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('No mail waiting').waitFor();
  await page.goto(message);
  await page.getByText('Captured in the test inbox').waitFor();
});

it('destinations: a domain stays in one piece, however long its reason is', async (visit) => {
  const owner = await signInToManagement(service, shop.owner.email);
  const to = 'ann@mail.busy-customer.test';
  const sent = await owner.post(`/accounts/${shop.id}/templates/t-0001/test-send`, { to });
  assert.ok(sent.status < 300, sent.text);
  const isSent = async (): Promise<boolean> => {
    const found = await database.pool.query('select from queued_delivery where account_id = $1', [
      shop.id,
    ]);
    return found.rowCount === 0;
  };
  await waitFor('the delivery', isSent);
  await database.pool.query(
    `insert into queued_delivery (account_id, message_id, retention_days, priority, due_at, expires_at, recipient, reason)
     select account_id, id, retention_days, 1, now() + interval '1 hour', now() + interval '1 day', 0, $3
     from message where account_id = $1 and content ->> 'to' = $2`,
    [shop.id, to, 'the server temporarily rejected the recipient: 451 come back later '.repeat(4)],
  );
  await visit.page.setViewportSize({ width: 1440, height: 900 });
  await visit.open(`${shop.id}/destinations`);
  const domain = visit.page.getByText('mail.busy-customer.test', { exact: true });
  await domain.waitFor();
  const { height = 0 } = (await domain.boundingBox()) ?? {};
  assert.ok(height > 0 && height < 30, `${height} px is more than one line`);
  await database.pool.query('delete from queued_delivery where account_id = $1', [shop.id]);
});
