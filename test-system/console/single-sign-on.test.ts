import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saveMembership } from '../../src/account/membership-store.ts';
import { openConsoleWorld } from '../support/console-world.ts';

const { database, shop, signedIn } = await openConsoleWorld();
await saveMembership(database.kysely, {
  accountId: shop.id,
  personId: shop.owner.id,
  role: 'owner',
});

test('owners set up single sign-on for an account, see what is wrong, and remove it', async () => {
  const visit = await signedIn();
  const { page } = visit;
  await visit.open(`${shop.id}/settings`);
  const section = page.getByRole('region', { name: 'Single sign-on' });
  await section.getByLabel('Name').fill('Shop ID');
  await section.getByLabel('Issuer').fill('https://127.0.0.1');
  await section.getByLabel('Client ID').fill('signalpost');
  await section.getByLabel('Client secret').first().fill('a secret of the shop');
  await section.getByLabel('Members').fill('developer engineering');
  await section.getByText(`/sign-in/oidc/callback/${shop.id}`).waitFor();
  await section.getByRole('button', { name: 'Save provider' }).click();
  await section.getByText('must be a public address').waitFor();
  await section.getByLabel('Issuer').fill('https://login.shop.test');
  await section.getByRole('button', { name: 'Save provider' }).click();
  await section.getByText(`/sign-in/oidc?account=${shop.id}`).waitFor();
  await visit.look('single-sign-on');
  await page.reload();
  assert.equal(await section.getByLabel('Issuer').inputValue(), 'https://login.shop.test');
  assert.equal(await section.getByLabel('Members').inputValue(), 'developer engineering');
  await section.getByRole('button', { name: 'Remove' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill('Shop ID');
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await section.getByText(`/sign-in/oidc?account=${shop.id}`).waitFor({ state: 'detached' });
  assert.equal(await section.getByLabel('Issuer').inputValue(), '');
});
