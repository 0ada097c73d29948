import assert from 'node:assert/strict';
import { newId } from '../../src/base/values/ids.ts';
import { ShapingStore } from '../../src/sending/delivery/shaping/shaping-store.ts';
import { TlsResultStore } from '../../src/sending/delivery/tls-report/tls-result-store.ts';
import { TestDns } from '../../test/support/test-dns.ts';
import { openConsoleWorld } from '../support/console-world.ts';

const dns = await new TestDns().start();
const { database, shop, it } = await openConsoleWorld({
  DELIVERY: 'direct',
  DNS_SERVERS: dns.server,
  SMTP_HOSTNAME: 'mail.signalpost.test',
  DIRECT_SOURCES: '127.0.0.1=mail1.signalpost.test,bulk/127.0.0.2=mail2.signalpost.test',
});

it('domains: the source address pool can be chosen; an invalid tracking host is rejected at its field', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/domains`);
  await page.getByRole('button', { name: 'Add a domain' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Domain').fill('shop.test');
  await dialog.getByRole('button', { name: 'Add a domain' }).click();
  await page.waitForURL(/domains\/shop\.test$/);
  const card = page.getByRole('region', { name: 'Sending and tracking' });
  await card.getByText('default').waitFor();
  await card.getByRole('button', { name: 'Edit' }).click();
  await dialog.getByLabel('Tracking host').fill('links.other.test');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('must be a subdomain of shop.test').waitFor();
  await visit.look('domain-settings-refused');
  await dialog.getByLabel('Tracking host').fill('');
  await dialog.getByRole('combobox', { name: 'Source address pool' }).click();
  await page.getByRole('option', { name: 'bulk' }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Settings for shop.test saved.').waitFor();
  await card.getByText('bulk').waitFor();
  const { rows } = await database.pool.query(
    `select source_pool from sending_domain where domain = 'shop.test'`,
  );
  assert.equal(rows[0]?.source_pool, 'bulk');
});

it('destinations: learned limits of a destination are shown and can be overridden; invalid values are rejected', async (visit) => {
  const { page } = visit;
  const store = new ShapingStore(database, newId(), Date.now);
  const heartbeat = { name: 'yahoo', label: 'Yahoo', startRate: 5, startConnections: 10 };
  const [stored] = await store.heartbeat([{ ...heartbeat, demand: 0, sent: 0 }]);
  assert.ok(stored);
  const reason = '421 Max message per connection reached';
  const session = { maxMessages: 6, learnedAt: Date.now(), reason };
  await store.save('yahoo', stored.version, { ...stored.throttle, session }, null);
  await visit.open(`${shop.id}/destinations/receivers`);
  const row = page.getByRole('row', { name: /Yahoo/ });
  await row.getByText(reason).waitFor();
  await visit.look('receivers');
  await row.getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Messages per second').fill('0');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel('Messages per second').fill('');
  await dialog.getByLabel('Messages per connection').fill('9');
  await store.override('yahoo', { rate: 7 });
  await dialog.getByRole('button', { name: 'Save' }).click();
  const conflict = dialog.getByRole('alert', { name: 'Someone else changed this' });
  await conflict.getByText('Messages per second: – → 7').waitFor();
  await conflict.getByRole('button', { name: 'Show current values' }).click();
  await row.getByRole('button', { name: 'Edit' }).click();
  await dialog.getByLabel('Messages per connection').fill('9');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Rate limits for Yahoo saved.').waitFor();
  await row.getByText('fixed').first().waitFor();
  const [fixed] = await store.list();
  assert.deepEqual(fixed?.override, {
    rate: 7,
    messagesPerConnection: 9,
  });
});

it('destinations: TLS results are shown by day and domain, and can be filtered', async (visit) => {
  const { page } = visit;
  const tls = new TlsResultStore(database, newId());
  const session = { policyType: 'sts', host: 'mx.people.test' } as const;
  await tls.add([
    { ...session, domain: 'people.test', type: 'success', sessions: 40 },
    { ...session, domain: 'people.test', type: 'certificate-expired', sessions: 3 },
    { ...session, domain: 'other.test', type: 'success', sessions: 5 },
  ]);
  await visit.open(`${shop.id}/destinations/tls`);
  await page.getByText('3 × certificate expired · mx.people.test').waitFor();
  const other = page.getByRole('row', { name: /other\.test/ });
  await other.waitFor();
  await visit.look('encryption');
  const domain = page.getByLabel('Domain', { exact: true });
  await domain.fill('people.test');
  await other.waitFor({ state: 'detached' });
  await domain.fill('nobody.test');
  await page.getByText('No TLS sessions match these filters').waitFor();
  await domain.fill('no domain');
  await page.getByRole('alert').waitFor();
});
