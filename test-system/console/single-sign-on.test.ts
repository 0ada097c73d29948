import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountTopic } from '../../src/accounts/account/account-store.ts';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import { setOperator } from '../../src/accounts/account/person-store.ts';
import { announceChange } from '../../src/base/database/announce.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { openConsoleWorld } from '../support/console-world.ts';

const { database, shop, it, signedIn } = await openConsoleWorld();
await saveMembership(database.kysely, {
  accountId: shop.id,
  personId: shop.owner.id,
  role: 'owner',
});

test('owners set up single sign-on for an account, see what is wrong, and remove it', async () => {
  const visit = await signedIn();
  const { page } = visit;
  await visit.open(`${shop.id}/settings/access`);
  const section = page.getByRole('region', { name: 'Single sign-on' });
  await section.getByRole('button', { name: 'Set up single sign-on' }).click();
  await section.getByLabel('Name').fill('Shop ID');
  await section.getByLabel('Issuer').fill('https://127.0.0.1');
  await section.getByLabel('Client ID').fill('signalpost');
  await section.getByLabel('Client secret').first().fill('a secret of the shop');
  await section.getByLabel('Role of rule 1').selectOption('Developer');
  await section.getByLabel('Group or domain of rule 1').fill('engineering');
  await section.getByText(`/sign-in/oidc/callback/${shop.id}`).waitFor();
  await section.getByRole('button', { name: 'Save' }).click();
  await section.getByText('must be a public address').waitFor();
  await section.getByLabel('Issuer').fill('https://login.shop.test');
  await section.getByRole('button', { name: 'Save' }).click();
  await section.getByText('/sign-in/oidc?link=').waitFor();
  await visit.look('single-sign-on');
  await page.reload();
  assert.equal(await section.getByLabel('Issuer').inputValue(), 'https://login.shop.test');
  assert.equal(await section.getByLabel('Role of rule 1').inputValue(), 'developer');
  assert.equal(await section.getByLabel('Group or domain of rule 1').inputValue(), 'engineering');
  await section.getByRole('button', { name: 'Remove', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill('Shop ID');
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await section.getByText('/sign-in/oidc?link=').waitFor({ state: 'detached' });
  await section.getByRole('button', { name: 'Set up single sign-on' }).waitFor();
});

it('an account that asks for single sign-on leads people with a password to its provider', async (visit) => {
  const { page } = visit;
  await setOperator(database.kysely, shop.owner.id, false);
  await visit.open(`${shop.id}/senders`);
  await page.getByRole('button', { name: 'Add a sender' }).first().waitFor();
  await database.pool.query(`update account set sign_in = 'single-sign-on' where id = $1`, [
    shop.id,
  ]);
  await announceChange(database.kysely, accountTopic, shop.id);
  const button = page.getByRole('button', { name: 'Continue with single sign-on' });
  await waitFor('the policy to be known', async () => {
    await visit.open(`${shop.id}/senders`);
    await page.getByRole('main').getByRole('button').or(page.getByRole('alert')).first().waitFor();
    return (await button.count()) > 0;
  });
  await visit.look('single-sign-on-required');
  await button.first().click();
  await page.waitForURL(/\/sign-in\?/);
  await page.getByRole('alert').waitFor();
});
