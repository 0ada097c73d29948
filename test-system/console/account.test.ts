import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import { addKey } from '../../test/support/api-key.ts';
import { signInToManagement } from '../../test/support/management-client.ts';
import { bodyWith, SendClient } from '../../test/support/send-client.ts';
import { SessionWorld } from '../../test/support/session-world.ts';
import { getToken } from '../../test/support/shop.ts';
import { startTestService } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { openConsoleWorld } from '../support/console-world.ts';
import { freePort } from '../support/free-port.ts';
import { takeScreenshot } from '../support/open-chromium.ts';

const { database, service, shop, it, signedIn } = await openConsoleWorld({
  WEBHOOK_NETWORKS: '127.0.0.0/8',
});
const membership = { accountId: shop.id, personId: shop.owner.id };

it('overview and reports show sent messages in figures and plots; reports are grouped by template, compared and exported', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/templates/t-0001`);
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByRole('dialog').getByLabel('To').fill('ann@people.test');
  await page.getByRole('dialog').getByRole('button', { name: 'Send a test' }).click();
  await page.getByRole('link', { name: 'Open the message' }).click();
  await page.getByText('Captured in the test inbox').waitFor();
  // Until a program has sent one, the overview shows the steps to the first message.
  const client = new SendClient(service, await addKey(database, shop.id));
  assert.equal((await client.send()).status, 200);
  await waitFor('the report to include the message', async () => {
    await visit.open(`${shop.id}`);
    await page.locator('.plot').waitFor();
    return (await page.locator('.plot-part[data-series="delivered"]').count()) > 0;
  });
  await page.getByText('Today', { exact: true }).click();
  await page.locator('.plot-part[data-series="delivered"]').first().waitFor();
  await visit.look('overview-sent');
  await page.getByRole('link', { name: 'Reports' }).click();
  await page.getByRole('cell', { name: 't-0001' }).waitFor();
  await page.getByLabel('Compare to previous period').check();
  await page.getByText(/^no messages from .* to compare with$/).waitFor();
  await page.getByText('Today so far').waitFor();
  assert.equal(await page.locator('.change, [data-series="before"]').count(), 0);
  await visit.look('reports-compared');
  await page.getByLabel('Group by', { exact: true }).selectOption('day');
  const today = new Date().toLocaleDateString('en-US', { dateStyle: 'medium' });
  await page.getByRole('cell', { name: today, exact: true }).waitFor();
  await page.getByLabel('Period', { exact: true }).selectOption('7');
  await page.waitForURL(/days=7/);
  await page.reload();
  await page.getByRole('cell', { name: today, exact: true }).waitFor();
  assert.equal(await page.getByLabel('Period', { exact: true }).inputValue(), '7');
  assert.equal(await page.getByLabel('Compare to previous period').isChecked(), true);
  await page.getByLabel('Group by', { exact: true }).selectOption('template');
  await page.getByRole('cell', { name: 't-0001' }).waitFor();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export CSV' }).click(),
  ]);
  const lines: string[] = [];
  for await (const chunk of await file.createReadStream()) lines.push(String(chunk));
  assert.match(lines.join(''), /^[^\n]*accepted[^\n]*\n(?:.*\n)*t-0001,/m);
});

test('every page shows that the service is unreachable and offers a retry, and keeps typed text', async () => {
  const databaseUrl = service.config.databaseUrl ?? '';
  const environment = { PORT: String(await freePort()) };
  const second = await startTestService({ databaseUrl, environment });
  const visit = await signedIn({ separate: true });
  const { page } = visit;
  await page.goto(`${second.url}/console/${shop.id}/senders`);
  await page.getByRole('cell', { name: 'orders@shop.test', exact: true }).waitFor();
  // The browser caches all scripts and styles first, so that only the API is unreachable.
  const files = (await readdir('console/dist/assets')).filter((name) => /\.(?:js|css)$/.test(name));
  await page.evaluate(async (names) => {
    for (const name of names) await (await fetch(`/console/assets/${name}`)).arrayBuffer();
  }, files);
  await second.stop();
  const menu = page.getByRole('navigation', { name: 'Pages' });
  /** Their pages that show data. */
  const areas: Readonly<Record<string, readonly string[]>> = {
    Overview: [],
    Messages: ['Messages', 'Scheduled', 'Replies', 'Test inbox'],
    Reports: [],
    Templates: [],
    Developers: ['API keys', 'OAuth apps', 'Outboxes'],
    Webhooks: [],
    'Domains & senders': ['Domains'],
    Delivery: [],
    Recipients: ['Suppressions', 'Lists'],
    Settings: ['Account', 'Team', 'Privacy', 'Audit log'],
  };
  for (const [area, tabs] of Object.entries(areas)) {
    await menu.getByRole('link', { name: area, exact: true }).click();
    for (const name of tabs.length === 0 ? [area] : tabs) {
      if (tabs.length > 0)
        await page
          .getByRole('navigation', { name: area })
          .getByRole('link', { name, exact: true })
          .click();
      await page.getByRole('alert').first().waitFor();
      await page.getByText('Can’t reach the service').first().waitFor();
      await page.getByRole('button', { name: 'Try again' }).first().waitFor();
      const figures = await page.locator('.figure').allTextContents();
      assert.ok(
        figures.every((one) => one === '–'),
        `${name} shows figures that it doesn’t have: ${figures}`,
      );
    }
  }
  await menu.getByRole('link', { name: 'Settings' }).click();
  const name = page.getByRole('region', { name: 'Profile' }).getByLabel('Name');
  await name.fill('Kept later');
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.getByText('Can’t reach the service').first().waitFor();
  assert.equal(await name.inputValue(), 'Kept later', 'typed text is kept');

  const third = await startTestService({ databaseUrl, environment });
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.getByRole('banner').getByText('Kept later').waitFor();
  await third.stop();
  await menu.getByRole('link', { name: 'Domains & senders' }).click();
  const again = page.getByRole('button', { name: 'Try again' });
  await again.first().waitFor();
  await startTestService({ databaseUrl, environment });
  await again.first().click();
  await page.getByText('No domains yet').waitFor();
  for (const [name, shown] of [
    ['Overview', page.locator('.plot')],
    ['Reports', page.getByRole('cell', { name: 't-0001' })],
  ] as const) {
    await page.getByRole('link', { name, exact: true }).click();
    await shown.waitFor();
    assert.equal(await page.getByText('Can’t reach the service').count(), 0, name);
  }
  await visit.close();
});

test('a page that still shows numbers while the service is unreachable says from when they are', async () => {
  const databaseUrl = service.config.databaseUrl ?? '';
  const second = await startTestService({
    databaseUrl,
    environment: { PORT: String(await freePort()) },
  });
  const visit = await signedIn({ separate: true });
  const { page } = visit;
  await page.clock.install();
  await page.goto(`${second.url}/console/${shop.id}`);
  await page.locator('.plot').first().waitFor();
  await page.getByRole('link', { name: 'Reports', exact: true }).click();
  await page.getByRole('cell', { name: 't-0001' }).waitFor();
  const figures = await page.locator('.figure').allTextContents();
  await second.stop();
  // After this time, a page asks again.
  await page.clock.fastForward(60_000);
  await page.getByRole('link', { name: 'Overview', exact: true }).click();
  const alert = page.getByRole('alert').filter({ hasText: 'Can’t reach the service' });
  await alert.getByText(/^What you see here is from .*\d:\d\d/).waitFor();
  await page.getByRole('link', { name: 'Reports', exact: true }).click();
  await page.getByRole('cell', { name: 't-0001' }).waitFor();
  await alert.getByText(/^What you see here is from .*\d:\d\d/).waitFor();
  assert.deepEqual(await page.locator('.figure').allTextContents(), figures);
  await takeScreenshot(page, 'console-reports-from-before');
  await visit.close();
});

test('a page or palette whose script was never loaded shows that the service is unreachable, and opens once it is back', async () => {
  const databaseUrl = service.config.databaseUrl ?? '';
  const environment = { PORT: String(await freePort()) };
  const second = await startTestService({ databaseUrl, environment });
  const visit = await signedIn({ separate: true });
  const { page } = visit;
  await page.goto(`${second.url}/console/${shop.id}/senders`);
  await page.getByRole('cell', { name: 'orders@shop.test', exact: true }).waitFor();
  await second.stop();
  await page.keyboard.press('Control+k');
  await page
    .getByRole('region', { name: 'Notifications' })
    .getByText('Can’t reach the service')
    .waitFor();
  await page.getByRole('cell', { name: 'orders@shop.test', exact: true }).waitFor();
  await page.getByRole('link', { name: 'Reports', exact: true }).click();
  const away = page.getByRole('alert').getByText('Can’t reach the service');
  await away.waitFor();
  const failedRequest = page.waitForEvent('requestfailed', (request) =>
    request.url().includes('reports-page'),
  );
  await page.getByRole('button', { name: 'Try again' }).click();
  await failedRequest;
  await away.waitFor();

  const third = await startTestService({ databaseUrl, environment });
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { level: 1, name: 'Reports' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('combobox').waitFor();
  await third.stop();
  await visit.close();
});

test('a page whose script was removed by a newer console opens in the newer console', async () => {
  const visit = await signedIn({ separate: true });
  const { page } = visit;
  await visit.open(`${shop.id}/privacy`);
  await page.evaluate('window.isOldConsole = true');
  await page.route(/audit-page/, (route) => route.fulfill({ status: 404 }), { times: 1 });
  await page.getByRole('link', { name: 'Audit log', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor();
  assert.equal(await page.evaluate('window.isOldConsole'), undefined);
  await visit.close();
});

it('settings: renaming the account updates every place at once; an invalid name is rejected at its field', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/settings`);
  await page.getByRole('region', { name: 'Profile' }).getByLabel('Name').fill('The New Shop');
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.getByRole('banner').getByText('The New Shop').waitFor();
  const notice = page.getByRole('region', { name: 'Notifications' }).getByText('Quota saved.');
  const quota = page.getByRole('region', { name: 'Quota' });
  await quota.getByLabel('Recipients per hour').fill('1000');
  await quota.getByRole('button', { name: 'Save' }).click();
  await notice.waitFor();
  await quota.getByLabel('Recipients per hour').fill('');
  await quota.getByRole('button', { name: 'Save' }).click();
  await quota.getByText(/^No limit\./).waitFor();
  await page.getByRole('region', { name: 'Profile' }).getByLabel('Name').fill('x'.repeat(300));
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.getByRole('alert').first().waitFor();
  await page.getByRole('region', { name: 'Profile' }).getByLabel('Name').fill('   ');
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.getByText('Enter a name.').waitFor();
});

it('privacy: personal data has its own retention period of at least three days; a person’s mail, suppression and replies are on one page, and erasing them requires typing the address', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/privacy`);
  await page.getByLabel('Addresses').fill('1');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Addresses').fill('30');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved.').waitFor();
  await visit.look('privacy');
  await page.getByRole('link', { name: 'Whole email address' }).click();
  await page.getByLabel('Whole email address').fill('ann@people.test');
  await page.keyboard.press('Enter');
  await page.waitForURL(/people\?address=ann%40people\.test$/);
  const messages = page.getByRole('table', { name: 'Messages' });
  await messages.getByRole('link', { name: 'ann@people.test' }).first().click();
  await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  await page.getByRole('link', { name: 'ann@people.test', exact: true }).click();
  const isFree = page.getByText('Not suppressed.');
  await isFree.waitFor();
  await page.getByText('No replies yet').waitFor();
  await page.getByText('On no list.').waitFor();
  const owner = await signInToManagement(service, shop.owner.email);
  const suppressed = `/accounts/${shop.id}/suppressions`;
  await owner.put(`${suppressed}/ann@people.test`, { reason: 'manual' });
  await owner.put(`${suppressed}/joann@people.test`, { reason: 'manual' });
  const list = `/accounts/${shop.id}/lists/vip`;
  await owner.put(list, { name: 'Best customers' });
  await owner.put(`${list}/contacts/ann@people.test`, { fields: {} });
  // More addresses that contain it than a page of the list has, all of them newer.
  await database.pool.query(
    `insert into suppression (account_id, address, reason, created_at)
     select $1, n || '-ann@people.test', 'manual', now() from generate_series(1, 250) n`,
    [shop.id],
  );
  await visit.open(`${shop.id}/suppressions?contains=250-ann`);
  await page.getByRole('link', { name: '250-ann@people.test' }).click();
  await page.getByRole('heading', { level: 1, name: '250-ann@people.test' }).waitFor();
  await visit.open(`${shop.id}/people?address=ann%40people.test`);
  const suppressions = page.getByRole('table', { name: 'Suppressions' });
  await suppressions.getByRole('row', { name: /^Manual/ }).waitFor();
  const lists = page.getByRole('table', { name: 'Lists' });
  await lists.getByRole('link', { name: 'Best customers' }).waitFor();
  await visit.look('person');
  await suppressions.getByRole('button', { name: 'Remove' }).click();
  await isFree.waitFor();
  await page.getByLabel('Whole email address').fill('zoe@people.test');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'zoe@people.test' }).waitFor();
  await page.getByText('No messages yet').waitFor();
  await page.getByRole('button', { name: 'Erase' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Type zoe@people.test to confirm').fill('zoe@people.test');
  await dialog.getByRole('button', { name: 'Erase' }).click();
  await page.getByText('Erased from 0 messages and 0 lists.').waitFor();
});

it('settings: an operator sets a quota and sees its usage; a negative quota is rejected at its field', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/settings`);
  const card = page.getByRole('region', { name: 'Quota' });
  await card.getByText(/^No limit\. \d+ messages? accepted today\.$/).waitFor();
  await card.getByLabel('Recipients per day').fill('2000000001');
  await card.getByRole('button', { name: 'Save' }).click();
  await card.getByRole('alert').waitFor();
  await card.getByLabel('Recipients per day').fill('');
  await card.getByLabel('Recipients per hour').fill('-5');
  await card.getByRole('button', { name: 'Save' }).click();
  await card.getByText('Fix the marked field.').waitFor();
  assert.equal(await card.getByLabel('Recipients per hour').inputValue(), '-5');
  await card.getByLabel('Recipients per hour').fill('');
  await card.getByLabel('Recipients per day').fill('2');
  await card.getByRole('button', { name: 'Save' }).click();
  await card.getByText(/^Today: \d of 2 recipients$/).waitFor();
  await visit.move(`${shop.id}/templates/t-0001`);
  const dialog = page.getByRole('dialog');
  // Only messages accepted since the quota was set count.
  for (const to of ['one', 'two']) {
    await page.getByRole('button', { name: 'Send a test' }).click();
    await dialog.getByLabel('To').fill(`${to}@people.test`);
    await dialog.getByRole('button', { name: 'Send a test' }).click();
    await page.getByRole('link', { name: 'Open the message' }).click();
    // The dialog is open until the page of the message is shown.
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await visit.move(`${shop.id}/templates/t-0001`);
  }
  await page.getByRole('button', { name: 'Send a test' }).click();
  await dialog.getByLabel('To').fill('three@people.test');
  await dialog.getByRole('button', { name: 'Send a test' }).click();
  await dialog.getByRole('alert', { name: 'Too many requests' }).waitFor();
  await visit.open(`${shop.id}`);
  const attention = page.getByRole('region', { name: 'Needs attention' });
  await attention.getByText('2 of 2 recipients used this day.').waitFor();
  await attention.getByRole('link', { name: 'Account' }).click();
  await card.getByText('Today: 2 of 2 recipients').waitFor();
  await visit.look('settings-quota');
  await card.getByLabel('Recipients per day').fill('');
  await card.getByRole('button', { name: 'Save' }).click();
  await card.getByText(/^No limit\. \d+ messages? accepted today\.$/).waitFor();
});

it('settings: a missing add-on is flagged and can be added there; two operators at once do not undo each other’s changes', async (visit) => {
  const { page } = visit;
  const operator = await signInToManagement(service, shop.owner.email);
  const whole = `/installation/accounts/${shop.id}`;
  await operator.put(whole, { name: 'Shop', addOns: [] });
  await visit.open(`${shop.id}`);
  const attention = page.getByRole('region', { name: 'Needs attention' });
  await attention.getByText(/doesn’t have the transactional add-on/).waitFor();
  await visit.move(`${shop.id}/settings`);
  const card = page.getByRole('region', { name: 'Operator controls' });
  const addOn = card.getByRole('checkbox', { name: 'Transactional add-on' });
  await addOn.waitFor();
  const save = card.getByRole('button', { name: 'Save' });
  assert.equal(await save.isDisabled(), true, 'nothing has changed');
  // Someone else changes it first.
  assert.equal((await operator.put(whole, { name: 'Renamed meanwhile' })).status, 200);
  await addOn.click();
  await save.click();
  const conflict = card.getByRole('alert', { name: 'Someone else changed this' });
  await conflict.getByRole('button', { name: 'Show current values' }).click();
  await conflict.waitFor({ state: 'detached' });
  await page.getByRole('banner').getByText('Renamed meanwhile').waitFor();
  await addOn.click();
  await save.click();
  await page.getByText('Saved.').waitFor();
  await card.getByRole('checkbox', { name: 'Transactional add-on', checked: true }).waitFor();
  const { body } = await operator.get(whole);
  assert.equal(body.name, 'Renamed meanwhile');
  assert.deepEqual(body.addOns, ['transactional']);
  await page.getByRole('link', { name: 'Change it in Operator controls' }).click();
  await card.getByLabel('Message retention').selectOption('400 days');
  await save.click();
  await page.getByRole('region', { name: 'Details' }).getByText('400 days').waitFor();
  assert.equal((await operator.get(whole)).body.retentionDays, 400);
  const suspend = page.getByRole('button', { name: 'Suspend', exact: true });
  const lift = page.getByRole('button', { name: 'Lift suspension' });
  const dialog = page.getByRole('dialog', { name: 'Suspend this account?' });
  await suspend.click();
  await visit.look('settings-suspend');
  await dialog.getByRole('button', { name: 'Keep active' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal((await operator.get(whole)).body.suspended, false);
  await suspend.click();
  await dialog.getByRole('button', { name: 'Suspend' }).click();
  await lift.click();
  await suspend.waitFor();
  await page.getByText('not checked (external PostgreSQL)').waitFor();
  await visit.look('settings-operator');
});

it('team: the last owner keeps the role; a user is invited with a role, which the audit log records', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/team`);
  await page.getByText('The only owner').waitFor();
  assert.equal(await page.getByLabel(/^Role of/).count(), 0);
  await page.getByRole('button', { name: 'Invite someone' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Email address').fill('vic@shop.test');
  await dialog.getByLabel('Name').fill('Vic Viewer');
  await dialog.getByLabel('Role').selectOption('viewer');
  await dialog.getByText('Changes nothing.').waitFor();
  await dialog.getByRole('button', { name: 'Send invitation' }).click();
  const row = page.getByRole('row', { name: /vic@shop\.test/ });
  await row.getByTitle(`Invited by ${shop.owner.email}`).waitFor();
  await visit.look('team-invited');
  await row.getByRole('button', { name: 'Resend invite' }).click();
  await page.getByText(/less than two minutes ago/).waitFor();
  await row.getByRole('button', { name: 'Actions for Vic Viewer' }).click();
  await page.getByRole('menuitem', { name: 'Cancel invitation' }).click();
  await dialog.getByLabel('Type vic@shop.test to confirm').fill('vic@shop.test');
  await dialog.getByRole('button', { name: 'Cancel invitation' }).click();
  await row.waitFor({ state: 'detached' });
  await visit.move(`${shop.id}/audit`);
  await page.getByText(/created user “vic@shop\.test”$/).waitFor();
  await page.getByLabel('Search').fill('nothing like this');
  await page.getByText('No matching events').waitFor();
});

it('API keys: a new key is shown once with a command that works until the key is revoked', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/keys`);
  await page.getByRole('button', { name: 'New API key' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Deploy');
  assert.equal(await dialog.getByLabel('Send only').isChecked(), true, 'selected by default');
  await visit.look('key-presets');
  await dialog.getByLabel('Read only').check();
  await dialog.getByLabel('Custom').check();
  assert.equal(await dialog.getByLabel('Read reports').isChecked(), true, 'the list behind');
  assert.equal(await dialog.getByLabel('Send email with templates').isChecked(), false);
  assert.equal(await dialog.getByText('users:write').count(), 0, 'no key can have it');
  await dialog.getByLabel('Send only').check();
  await dialog.getByLabel('Custom').check();
  await dialog.getByLabel('Read senders').check();
  await visit.look('key-new');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  const shown = page.getByRole('dialog', { name: 'API key' });
  await shown.getByText('This is shown only once').waitFor();
  await visit.look('key-shown');
  const key = (await shown.locator('code').first().textContent()) ?? '';
  const get = (path: string) =>
    fetch(`${service.url}/manage/v1/accounts/${shop.id}/${path}`, {
      headers: { authorization: `Bearer ${key}` },
    });
  assert.equal((await get('senders')).status, 200);
  assert.equal((await get('messages')).status, 403);
  const command = (await shown.locator('pre').textContent()) ?? '';
  const { stdout } = await promisify(execFile)('sh', ['-c', `${command} -s -w '\n%{http_code}'`]);
  assert.match(stdout, /\n200$/, stdout);
  await shown.getByRole('button', { name: 'I’ve saved it' }).click();
  const row = page.getByRole('row').filter({ hasText: 'Deploy' });
  await row.getByText(`sp_${shop.id}_…${key.slice(-11, -7)}`).waitFor();
  await row.getByText(/^Created \w+ \d+ by /).waitFor();
  await row.getByText('3 permissions').click();
  await row.getByText('Read senders').waitFor();
  await row.getByRole('button', { name: 'Actions for Deploy' }).click();
  await page.getByRole('menuitem', { name: 'Revoke' }).click();
  await dialog.getByLabel('Type Deploy to confirm').fill('Deploy');
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal((await get('senders')).status, 401);
});

it('API keys: a limited key is listed with its limits and rotated; an invalid network is rejected at its field', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/keys`);
  await page.getByRole('button', { name: 'New API key' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Newsletter');
  await dialog.getByLabel('Expires').selectOption('In 90 days');
  await dialog.getByLabel('Custom').check();
  await dialog.getByLabel('Read senders').check();
  await dialog.getByRole('button', { name: 'Limit it to templates or networks…' }).click();
  await dialog.getByRole('combobox', { name: 'Templates' }).click();
  await page.getByRole('option', { name: 't-0001' }).click();
  await dialog.getByText('A key limited to templates').waitFor();
  assert.equal(await dialog.getByLabel('Read senders').isDisabled(), true);
  assert.equal(await dialog.getByLabel('Read the status of its messages').isDisabled(), false);
  await dialog.getByLabel('Networks').fill('192.0.2.0/99');
  await visit.look('key-limited');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByText('is not a network').first().waitFor();
  await dialog.getByLabel('Networks').fill('192.0.2.0/24\n\n 2001:db8::/48 ');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('button', { name: 'I’ve saved it' }).click();
  const rows = page.getByRole('row').filter({ hasText: 'Newsletter' });
  await rows.getByText('Only from 192.0.2.0/24, 2001:db8::/48').waitFor();
  await rows.getByText('Only templates t-0001').waitFor();
  await rows.getByText('Send only').waitFor();
  await rows.getByRole('button', { name: 'Rotate' }).click();
  await dialog.getByLabel('Old key').selectOption('Expires in 1 week');
  await visit.look('key-rotate');
  await dialog.getByRole('button', { name: 'Rotate' }).click();
  await page.getByRole('button', { name: 'I’ve saved it' }).click();
  await waitFor('both keys to be listed', async () => (await rows.count()) === 2);
  await rows.getByText('Rotated', { exact: true }).waitFor();
  assert.equal(await rows.getByRole('button', { name: 'Rotate' }).count(), 1);
  await visit.look('keys');
});

it('API keys: a test key and what it sends are marked, and messages are filtered by mode', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/keys`);
  await page.getByRole('button', { name: 'New API key' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Staging');
  await dialog.getByLabel('Mode').selectOption('Test');
  await dialog.getByText('Messages go to this account’s inbox only').waitFor();
  await dialog.getByRole('button', { name: 'Create key' }).click();
  const shown = page.getByRole('dialog', { name: 'API key' });
  const key = (await shown.locator('code').first().textContent()) ?? '';
  await shown.getByRole('button', { name: 'I’ve saved it' }).click();
  await page
    .getByRole('row')
    .filter({ hasText: 'Staging' })
    .getByText('Test', { exact: true })
    .waitFor();
  await visit.look('key-test');
  const to = 'staging@people.test';
  await new SendClient(service, key, shop.id).accept({
    body: bodyWith({ envelope: { toAddress: to, fromAddress: 'anyone@elsewhere.test' } }),
  });
  await visit.move(`${shop.id}/messages`);
  await page.getByLabel('Mode', { exact: true }).selectOption('Test');
  const row = page.getByRole('row').filter({ hasText: to });
  await row.getByText('Captured').waitFor();
  await row.getByText('Test', { exact: true }).waitFor();
  // The list shows all messages until it has those of the filter.
  await waitFor('the only test message', async () => (await page.getByRole('row').count()) === 2);
  await visit.look('messages-test');
  await page.getByLabel('Mode', { exact: true }).selectOption('Live');
  await row.waitFor({ state: 'detached' });
  await page.getByLabel('Mode', { exact: true }).selectOption('Test');
  await row.getByRole('link').click();
  await page.getByText('Captured in the test inbox, not delivered.').waitFor();
  await visit.look('message-test');
});

it('team: an owner takes over the API keys of a user who is demoted or removed', async (visit) => {
  const { page } = visit;
  const world = new SessionWorld(database, shop.id);
  const creatorOf = async (keyId: string) =>
    (await database.pool.query('select created_by from api_key where id = $1', [keyId])).rows[0]
      ?.created_by;
  const people = await Promise.all([world.addPerson(), world.addPerson(), world.addPerson()]);
  const keys = [];
  for (const { id } of people) {
    await addKey(database, shop.id, { createdBy: id });
    const { rows } = await database.pool.query('select id from api_key where created_by = $1', [
      id,
    ]);
    keys.push(String(rows[0].id));
  }
  await visit.open(`${shop.id}/team`);
  const rowOf = (index: number) =>
    page.getByRole('row').filter({ hasText: people[index]?.email ?? '' });
  const dialog = page.getByRole('dialog');
  await rowOf(0)
    .getByLabel(/^Role of/)
    .selectOption('viewer');
  await dialog.getByLabel('Keep their API key and transfer it to me').check();
  await visit.look('team-demote');
  await dialog.getByRole('button', { name: 'Change role' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await creatorOf(keys[0] ?? ''), shop.owner.id);

  for (const [index, keep] of [
    [1, true],
    [2, false],
  ] as const) {
    const email = people[index]?.email ?? '';
    await rowOf(index)
      .getByRole('button', { name: /^Actions for/ })
      .click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    await dialog.getByText('Otherwise it is revoked.').waitFor();
    if (keep) await dialog.getByLabel('Keep their API key and transfer it to me').check();
    await dialog.getByLabel(`Type ${email} to confirm`).fill(email);
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await creatorOf(keys[index] ?? ''), keep ? shop.owner.id : undefined);
  }
});

it('OAuth apps: an existing client ID is rejected at its field', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/integrations`);
  await page.getByRole('button', { name: 'Register an OAuth app' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Shop');
  await dialog.getByLabel('Client ID').fill(shop.integration.clientId);
  await dialog.getByRole('button', { name: 'Register' }).click();
  await dialog.getByRole('alert').waitFor();
});

it('webhooks: a new webhook shows its secret once; it is edited, rotated and paused; errors name the setting for private networks', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/webhooks`);
  await page.getByRole('button', { name: 'Add a webhook' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('URL').fill('https://10.1.2.3/');
  await dialog.getByLabel('Bounced').check();
  await dialog.getByRole('button', { name: 'Add a webhook' }).click();
  await dialog.getByText(/is in a private network.*WEBHOOK_NETWORKS/).waitFor();
  await visit.look('webhook-add');
  await dialog.getByLabel('URL').fill('https://hooks.example/signalpost');
  await dialog.getByRole('button', { name: 'Add a webhook' }).click();
  const shown = page.getByRole('dialog', { name: 'Signing secret' });
  await shown.getByText('This is shown only once').waitFor();
  await shown.getByRole('button', { name: 'I’ve saved it' }).click();
  await page.getByRole('link', { name: 'https://hooks.example/signalpost' }).click();
  await page.getByText('No events yet').waitFor();
  await visit.look('webhook');
  await page.getByRole('button', { name: 'Edit' }).click();
  await dialog.getByLabel('URL').fill('https://hooks.example/mail');
  await dialog.getByRole('button', { name: 'Select all' }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'https://hooks.example/mail' }).waitFor();
  await page.getByText('All events', { exact: true }).waitFor();
  const rotate = async (consequence: RegExp) => {
    await page.getByRole('button', { name: 'Rotate secret' }).click();
    await dialog.getByText(consequence).waitFor();
    await dialog.getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByText('Both secrets verify events for 24 hours.').waitFor();
    await page.getByRole('button', { name: 'I’ve saved it' }).click();
    await dialog.first().waitFor({ state: 'detached' });
  };
  await rotate(/For a day, events are signed with both/);
  await page.getByText('Two secrets are valid').waitFor();
  await rotate(/The one before it, which still works now, stops immediately/);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Paused', { exact: true }).waitFor();
});

it('webhooks: a provider’s format is chosen, and the page shows what its receiver needs; events that it doesn’t have are refused', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/webhooks`);
  await page.getByRole('button', { name: 'Add a webhook' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('URL').fill('https://hooks.example/events');
  await dialog.getByLabel('Format').selectOption('sendgrid');
  await dialog.getByRole('button', { name: 'Add a webhook' }).click();
  await page.getByText('Your endpoint uses this public key').waitFor();
  await page.getByRole('button', { name: 'I’ve saved it' }).click();
  await page.getByRole('link', { name: 'https://hooks.example/events' }).click();
  await page.getByText('Format: SendGrid').waitFor();
  await page.getByText(/^MFkwEwYH/).waitFor();
  await visit.look('webhook-format');
  await page.getByRole('button', { name: 'Rotate secret' }).click();
  await dialog.getByText(/the old one stops working at once/).waitFor();
  await dialog.getByRole('button', { name: 'Rotate secret' }).click();
  await page.getByText('Switch your endpoint to the new secret.').waitFor();
  await page.getByRole('button', { name: 'I’ve saved it' }).click();
  await page.getByRole('button', { name: 'Edit' }).click();
  await dialog.getByLabel('Format').selectOption('postmark');
  await dialog.getByLabel('Credentials').fill('ann:secret');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('can’t contain failed in the format postmark').waitFor();
  await visit.look('webhook-format-edit');
  await dialog.getByLabel('Failed').uncheck();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Format: Postmark').waitFor();
  await page.getByText('The user and password that each request has').waitFor();
  assert.equal(await page.getByText('ann:secret').count(), 0);
});

it('OAuth apps: the page shows how many sign-ins were used, and an operator raises the limit; a limit that is too high is rejected', async (visit) => {
  const { page } = visit;
  await getToken(service, shop);
  await visit.open(`${shop.id}/integrations`);
  const { clientId } = shop.integration;
  await page.getByText('5/hour per user').first().waitFor();
  const row = page.getByRole('row').filter({ hasText: clientId });
  await row.getByRole('button', { name: /^Actions for/ }).click();
  await page.getByRole('menuitem', { name: 'Sign-in limit' }).click();
  const dialog = page.getByRole('dialog');
  const person = dialog.getByRole('row').filter({ hasText: shop.owner.email });
  await person
    .getByRole('cell')
    .nth(2)
    .getByText(/^[0-4]$/)
    .waitFor();
  await dialog.getByLabel('Limit per user per hour').fill('1001');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel('Limit per user per hour').fill('50');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('50 times an hour').waitFor();
  await person.getByRole('cell').nth(2).getByText(/^4\d$/).waitFor();
  await visit.look('allowance');
});

it('webhooks: test events show the exchange; a failed event appears in the log and on the overview, with every try, and is replayed alone and by period', async (visit) => {
  const { page } = visit;
  let status = 500;
  const receiver = createServer((_request, response) =>
    response.writeHead(status, { 'x-request-id': 'r-1' }).end('no'),
  );
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  after(() => receiver.close());
  const { port } = receiver.address() as AddressInfo;
  const hook = `http://127.0.0.1:${port}/hook`;
  const dialog = page.getByRole('dialog');
  await visit.open(`${shop.id}/webhooks`);
  await page.getByRole('button', { name: 'Add a webhook' }).first().click();
  await dialog.getByLabel('URL').fill(hook);
  await dialog.getByLabel('Accepted').check();
  await dialog.getByRole('button', { name: 'Add a webhook' }).click();
  await page.getByRole('button', { name: 'I’ve saved it' }).click();
  await page.getByRole('link', { name: hook }).click();
  await page.getByRole('button', { name: 'Send test event' }).first().click();
  await dialog.getByLabel('Event').selectOption('clicked');
  await dialog.getByRole('button', { name: 'Send', exact: true }).click();
  await dialog.getByText('500', { exact: true }).waitFor();
  await dialog.getByText('"type": "message.clicked"').waitFor();
  await dialog.getByText(/^\d+ response headers$/).click();
  await dialog.getByRole('row', { name: 'x-request-id r-1' }).waitFor();
  await visit.look('webhook-test');
  const owner = await signInToManagement(service, shop.owner.email);
  const test = { to: 'hooked@people.test' };
  await owner.post(`/accounts/${shop.id}/templates/t-0001/test-send`, test);
  await page.locator('.workbench').waitFor();
  await dialog.getByText('"type": "message.clicked"').waitFor();
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
  await waitFor('the failure to need attention', async () => {
    await visit.open(`${shop.id}`);
    const attention = page.getByRole('region', { name: 'Needs attention' });
    await attention.getByRole('listitem').first().waitFor();
    return (await attention.getByText(`Requests to the webhook ${hook} are failing.`).count()) > 0;
  });
  await visit.look('overview-attention');
  await page
    .getByRole('listitem')
    .filter({ hasText: hook })
    .getByRole('link', { name: 'Open the webhook' })
    .click();
  const events = page.getByRole('region', { name: 'Events' });
  const accepted = events.getByRole('link').filter({ hasText: 'message.accepted' });
  await accepted.getByText('hooked@people.test').waitFor();
  await accepted.getByText(/^HTTP 500 · \d+ attempts?$/).waitFor();
  await accepted.click();
  const detail = page.getByRole('region', { name: 'Event', exact: true });
  await detail.getByText('"type": "message.accepted"').waitFor();
  await detail.getByRole('group').first().getByText('500', { exact: true }).waitFor();
  await page.getByRole('heading', { level: 1, name: 'message.accepted' }).waitFor();
  await visit.look('webhook-event');
  await page.getByRole('link', { name: /^http/ }).click();
  await page.getByText(/^Failing since .*Last response: HTTP 500\.$/).waitFor();
  await visit.look('webhook-failing');
  await accepted.click();
  await Promise.all([
    page.waitForResponse((answer) => /replay$/.test(answer.url()) && answer.status() === 202),
    detail.getByRole('button', { name: 'Retry now' }).click(),
  ]);
  await page.getByRole('link', { name: /^http/ }).click();
  status = 200;
  await Promise.all([
    page.waitForResponse((answer) => /resume$/.test(answer.url()) && answer.ok()),
    page.getByRole('button', { name: 'Retry all' }).click(),
  ]);
  await accepted.getByText('200', { exact: true }).waitFor();
  await accepted.click();
  await detail.getByText('200', { exact: true }).first().waitFor();
  await page.getByRole('link', { name: /^http/ }).click();
  await page.getByRole('button', { name: /^Actions for/ }).click();
  await page.getByRole('menuitem', { name: 'Replay a period' }).click();
  await dialog.getByLabel('All events, including sent ones').check();
  await dialog.getByRole('button', { name: 'Replay' }).click();
  await page.getByText(/^Replayed .*: \d+ events?\.$/).waitFor();
  await events.getByText('Waiting', { exact: true }).first().click();
  await page.getByText('No events in this state.').waitFor();
});

test('a viewer sees no buttons that would be refused, and an explanation on pages of other roles', async () => {
  await saveMembership(database.kysely, { ...membership, role: 'viewer' });
  try {
    const visit = await signedIn();
    const { page } = visit;
    await visit.open(`${shop.id}/senders`);
    await page.getByRole('cell', { name: 'orders@shop.test', exact: true }).waitFor();
    await waitFor('the role to be known', async () => {
      await page.reload();
      await page.getByRole('cell', { name: 'orders@shop.test', exact: true }).waitFor();
      return (await page.getByRole('link', { name: 'Webhooks' }).count()) === 0;
    });
    assert.equal(await page.getByRole('button', { name: /Add|Edit|Remove/ }).count(), 0);
    await visit.move(`${shop.id}/templates`);
    await page.getByRole('link', { name: 't-0001' }).waitFor();
    assert.equal(await page.getByRole('button', { name: /New|Actions/ }).count(), 0);
    await visit.move(`${shop.id}/people?address=ann%40people.test`);
    await page.getByRole('table', { name: 'Messages' }).getByText('ann@people.test').waitFor();
    await page.getByText('Not suppressed.').waitFor();
    assert.equal(await page.getByRole('link', { name: 'Export' }).count(), 0);
    assert.equal(await page.getByRole('button', { name: /Erase|Remove/ }).count(), 0);
    // Pages that aren't in the menu are opened by URL.
    for (const path of ['keys', 'integrations', 'webhooks', 'inbox', 'team', 'audit']) {
      await visit.move(`${shop.id}/${path}`);
      const alert = page.getByRole('alert', { name: 'Permission denied' });
      await alert.first().waitFor();
      const useless = page.getByRole('button', { name: /Add|New|Register|Try again/ });
      assert.equal(await useless.count(), 0, path);
    }
    await visit.look('role-forbids');
    await visit.end();
  } finally {
    await saveMembership(database.kysely, { ...membership, role: 'owner' });
  }
});
