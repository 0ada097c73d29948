import assert from 'node:assert/strict';
import { signInToManagement } from '../../test/support/management-client.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { openConsoleWorld } from '../support/console-world.ts';

const { service, shop, it } = await openConsoleWorld();

/** A second person who works on the account. */
const colleague = await signInToManagement(service, shop.owner.email);
const account = `/accounts/${shop.id}`;

async function change(path: string, body: unknown): Promise<void> {
  const { status, text } = await colleague.put(path, body);
  assert.ok(status === 200 || status === 201, text);
}

it('senders: display names changed by someone else are shown and kept; an existing sender is not overwritten', async (visit) => {
  const { page } = visit;
  const sender = `${account}/senders/orders@shop.test`;
  await visit.open(`${shop.id}/senders`);
  const row = page.getByRole('row', { name: /orders@shop\.test/ });
  const dialog = page.getByRole('dialog');
  const alert = dialog.getByRole('alert', { name: 'Someone else changed this' });
  await row.getByRole('button', { name: 'Actions for orders@shop.test' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  await dialog.getByLabel('Display names').fill('Mine');
  await dialog.getByLabel('Display names').press('Enter');
  await change(sender, { displayNames: ['Theirs'] });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await alert.getByText('Display names: Demo Shop, Orders → Theirs').waitFor();
  await visit.look('sender-conflict');
  await alert.getByRole('button', { name: 'Show current values' }).click();
  await row.getByText('Theirs').waitFor();
  await row.getByRole('button', { name: 'Actions for orders@shop.test' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  await dialog.getByText('Theirs').waitFor();
  await dialog.getByLabel('Display names').fill('Mine');
  await dialog.getByLabel('Display names').press('Enter');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await row.getByTitle('Theirs, Mine').waitFor();
  assert.deepEqual((await colleague.get(sender)).body.displayNames, ['Theirs', 'Mine']);

  await row.getByRole('button', { name: 'Actions for orders@shop.test' }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await dialog.getByLabel('Type orders@shop.test to confirm').fill('orders@shop.test');
  await change(sender, { displayNames: ['Needed'] });
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await alert.getByText('Display names: Theirs, Mine → Needed').waitFor();
  await alert.getByRole('button', { name: 'Show current values' }).click();
  await row.getByText('Needed').waitFor();

  await page.getByRole('button', { name: 'Add a sender' }).click();
  await dialog.getByLabel('Address').fill('orders@shop.test');
  await dialog.getByRole('button', { name: 'Add and send link' }).click();
  await dialog.getByText('Already exists.').waitFor();
  assert.deepEqual((await colleague.get(sender)).body.displayNames, ['Needed']);
});

it('team: a role changed by someone else is shown before it is changed again', async (visit) => {
  const { page } = visit;
  const user = `${account}/users/vic@shop.test`;
  await change(user, { name: 'Vic', role: 'viewer' });
  await visit.open(`${shop.id}/team`);
  const role = page.getByLabel('Role of Vic');
  await role.waitFor();
  await change(user, { role: 'developer' });
  await role.selectOption('marketer');
  const alert = page.getByRole('alert', { name: 'Someone else changed this' });
  await alert.getByText('Role: viewer → developer').waitFor();
  assert.equal((await colleague.get(user)).body.role, 'developer');
  await alert.getByRole('button', { name: 'Show current values' }).click();
  await alert.waitFor({ state: 'detached' });
  await waitFor('the current role', async () => (await role.inputValue()) === 'developer');
  await Promise.all([
    page.waitForResponse((response) => response.request().method() === 'PUT'),
    role.selectOption('marketer'),
  ]);
  assert.equal((await colleague.get(user)).body.role, 'marketer');
});

it('integrations: disabling an integration does not overwrite a name changed by someone else', async (visit) => {
  const { page } = visit;
  const app = `${account}/integrations/app`;
  await change(app, { name: 'App' });
  await visit.open(`${shop.id}/integrations`);
  await page.getByRole('button', { name: 'Actions for App' }).click();
  await change(app, { name: 'Renamed' });
  await page.getByRole('menuitem', { name: 'Disable' }).click();
  const alert = page.getByRole('alert', { name: 'Someone else changed this' });
  await alert.getByText('Name: App → Renamed').waitFor();
  await alert.getByRole('button', { name: 'Show current values' }).click();
  await page.getByRole('button', { name: 'Actions for Renamed' }).click();
  await page.getByRole('menuitem', { name: 'Disable' }).click();
  await page
    .getByRole('row', { name: /Renamed/ })
    .getByText('Disabled')
    .waitFor();
  const { body } = await colleague.get(app);
  assert.deepEqual([body.name, body.disabled], ['Renamed', true]);
});

it('privacy: a rule changed by someone else is shown; untouched fields follow it, and typed values stay', async (visit) => {
  const { page } = visit;
  const rule = `${account}/retention-rule`;
  await visit.open(`${shop.id}/privacy`);
  await page.getByLabel('Addresses').fill('30');
  await change(rule, { contentDays: 7, addressDays: null, engagementDays: null });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const alert = page.getByRole('alert', { name: 'Someone else changed this' });
  await alert.getByText('Fields and subjects: – → 7').waitFor();
  await page.locator('input[value="7"]').waitFor();
  await visit.look('privacy-conflict');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved.').waitFor();
  assert.deepEqual((await colleague.get(rule)).body, {
    contentDays: 7,
    addressDays: 30,
    engagementDays: null,
  });
});
