import assert from 'node:assert/strict';
import { addKey } from '../../test/support/api-key.ts';
import { signInToManagement } from '../../test/support/management-client.ts';
import { SendClient } from '../../test/support/send-client.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { openConsoleWorld } from '../support/console-world.ts';

const { database, service, shop, it } = await openConsoleWorld();

it('failed requests: each says what was refused and why, a click shows those of one key, and curl repeats it', async (visit) => {
  const { page } = visit;
  await visit.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await visit.open(`${shop.id}/requests`);
  await page.getByText('No failed requests').waitFor();

  const first = new SendClient(service, await addKey(database, shop.id), shop.id);
  const second = new SendClient(service, await addKey(database, shop.id), shop.id);
  const invalid = await first.send({ body: { envelope: { toAddress: 'nobody' } } });
  await second.send({ template: 'none' });
  const row = page.getByRole('row').filter({ hasText: 'VALIDATION_FAILED' });
  const owner = await signInToManagement(service, shop.owner.email);
  await waitFor('both failures', async () => {
    const { body } = await owner.get(`/accounts/${shop.id}/failed-requests`);
    return (body.items as unknown[]).length === 2;
  });
  await page.reload();
  await row.getByText('envelope.toAddress').waitFor();
  assert.equal(await page.getByText('nobody').count(), 0);
  await visit.look('requests-desk');

  await row.getByRole('button', { name: 'Copy Request ID' }).click();
  const readClipboard = () => page.evaluate<string>('navigator.clipboard.readText()');
  assert.equal(await readClipboard(), invalid.body.requestId);
  await row.getByRole('button', { name: 'Copy as curl' }).click();
  assert.equal(
    await readClipboard(),
    [
      `curl -X POST "${service.url}/ete/v1/email/${shop.id}/TEMPLATE_ID"`,
      '-H "Authorization: Bearer $SIGNALPOST_API_KEY"',
      '-H "Content-Type: application/json"',
      "-d '{}'",
    ].join(' \\\n  '),
  );

  await row.getByRole('link', { name: 'Test' }).click();
  await page.getByRole('row').filter({ hasText: 'INVALID_ID' }).waitFor({ state: 'detached' });
  await page.goBack();
  await page.getByRole('link', { name: 'INVALID_ID' }).click();
  await row.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Show all' }).click();
  await row.waitFor();
});
