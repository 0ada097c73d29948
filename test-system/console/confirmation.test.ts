import assert from 'node:assert/strict';
import { password } from '../../test/support/session-world.ts';
import { openConsoleWorld } from '../support/console-world.ts';

const { shop, database, it } = await openConsoleWorld();

it('an access policy is set in the account’s settings, and one that would lock its author out is refused there', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/settings/access`);
  const policy = page.getByRole('region', { name: 'Access policy' });
  await policy
    .getByLabel('Allowed networks for API keys and tokens')
    .fill('192.0.2.0/24\n2001:db8::/32');
  await policy.getByLabel('Second factor').selectOption('Required for everyone');
  await policy.getByRole('button', { name: 'Save' }).click();
  await policy.getByText('This would lock you out: add a second factor first.').waitFor();
  await visit.look('policy-refused');
  await policy.getByLabel('Second factor').selectOption('Optional');
  await policy.getByRole('button', { name: 'Add it' }).click();
  assert.match(
    await policy.getByLabel('Allowed networks for people').inputValue(),
    /^127\.0\.0\.1$/,
  );
  await policy.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Access policy saved.').waitFor();
  const { rows } = await database.pool.query('select program_networks from account where id = $1', [
    shop.id,
  ]);
  assert.deepEqual(rows[0]?.program_networks, ['192.0.2.0/24', '2001:db8::/32']);
});

it('a sensitive change asks who it is in a window of its own, keeps the form, and is then made', async (visit) => {
  const { page } = visit;
  await database.pool.query(
    `update browser_session set authenticated_at = authenticated_at - interval '11 minutes'`,
  );
  await visit.open(`${shop.id}/keys`);
  await page.getByRole('button', { name: 'New API key' }).first().click();
  const form = page.getByRole('dialog', { name: 'New API key' });
  await form.getByLabel('Name').fill('Deploy');
  await form.getByRole('button', { name: 'Create key' }).click();
  const question = page.getByRole('dialog', { name: 'Confirm it’s you' });
  await question.getByText('You’ll confirm in a new window').waitFor();
  await visit.look('confirm-identity');
  await question.getByRole('button', { name: 'Cancel' }).click();
  await form.getByText('Confirm who you are at /sign-in/confirm').waitFor();
  assert.equal(await form.getByLabel('Name').inputValue(), 'Deploy');

  await form.getByRole('button', { name: 'Create key' }).click();
  const opened = visit.context.waitForEvent('page');
  await question.getByRole('button', { name: 'Confirm' }).click();
  const confirmation = await opened;
  await confirmation.getByLabel('Password').fill(password);
  const closed = confirmation.waitForEvent('close');
  await confirmation.getByRole('button', { name: 'Continue' }).click();
  await closed;
  await page.getByText('This is shown only once').waitFor();
  await question.waitFor({ state: 'detached' });
});
