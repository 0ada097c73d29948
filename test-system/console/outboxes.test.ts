import assert from 'node:assert/strict';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import { outboxSchemaSql } from '../../src/outbox/source/outbox-schema-sql.ts';
import { openOwnDatabase } from '../../test/support/own-database.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { openConsoleWorld } from '../support/console-world.ts';
import { colorRules, viewportOf } from '../support/open-chromium.ts';

const { database, shop, it, signedIn } = await openConsoleWorld({ OUTBOX_NETWORKS: '127.0.0.0/8' });
const own = await openOwnDatabase();
await own.pool.query(
  outboxSchemaSql({ dialect: 'postgres', table: 'email_outbox', answers: null }),
);
await own.pool.query(
  outboxSchemaSql({ dialect: 'postgres', table: 'outbox_second', answers: null }),
);

async function insert(template: string, to: string): Promise<string> {
  const { rows } = await own.pool.query<{ id: string }>(
    'insert into email_outbox (template, to_address, data) values ($1, $2, $3) returning id',
    [template, to, { 'Order Number': 'A-1001' }],
  );
  return String(rows[0]?.id);
}

function answerOf(id: string): Promise<string> {
  return waitFor(`the answer of row ${id}`, async () => {
    const { rows } = await own.pool.query('select status from email_outbox where id = $1', [id]);
    return rows[0]?.status ?? undefined;
  });
}

it('outboxes: the first one is added; what the API refuses is shown at its field', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}`);
  await page.getByRole('link', { name: 'Developers' }).click();
  await page.getByRole('link', { name: 'Outboxes' }).click();
  await page.getByText('No outboxes yet').waitFor();
  await visit.look('outboxes-none');
  await page.getByRole('button', { name: 'Add an outbox' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Add an outbox' });
  await dialog.getByLabel('ID').fill('orders');
  const url = dialog.getByLabel('URL');
  const table = dialog.getByRole('textbox', { name: 'Table', exact: true });
  await url.fill('postgres://reader:secret@10.1.2.3/shop');
  await dialog.getByRole('button', { name: 'Add an outbox' }).click();
  await dialog.getByText(/is in a private network.*OUTBOX_NETWORKS/).waitFor();
  await visit.look('outbox-add');
  await url.fill(own.url);
  await table.fill('no"table');
  await dialog.getByRole('button', { name: 'Add an outbox' }).click();
  await dialog.locator('input[aria-invalid="true"]').waitFor();
  assert.equal(await table.getAttribute('aria-invalid'), 'true');
  await table.fill('email_outbox');
  await dialog.getByRole('button', { name: 'Add an outbox' }).click();
  const row = page.getByRole('row').filter({ hasText: 'email_outbox in 127.0.0.1' });
  await row.getByText('Active').waitFor();
  await row.getByText('Up to date').waitFor();
  assert.equal(await page.getByText('secret').count(), 0);
  await page.getByRole('button', { name: 'Add an outbox' }).first().click();
  await dialog.getByLabel('ID').fill('orders');
  await url.fill(own.url);
  await dialog.getByRole('button', { name: 'Add an outbox' }).click();
  await dialog.getByText(/already exists|is taken/i).waitFor();
});

it('outboxes: failed rows are listed with their errors, and sent once they are corrected and retried', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/outboxes`);
  const good = await insert('t-0001', 'ada@people.test');
  const [one, two] = [await insert('unknown', 'one@people.test'), await insert('t-0001', 'nobody')];
  assert.equal(await answerOf(good), 'accepted');
  const failed = page.getByRole('region', { name: 'Failed rows of orders' });
  await failed.getByText(`Row ${one}`).waitFor();
  await failed.getByText('INVALID_ID').waitFor();
  await failed.getByText(`Row ${two}`).waitFor();
  await failed.getByText('VALIDATION_FAILED').waitFor();
  assert.equal(await failed.getByText(`Row ${good}`).count(), 0);
  await visit.look('outboxes-failed');
  await page.emulateMedia({ colorScheme: 'dark' });
  await visit.look('outboxes-failed-dark', colorRules);
  await page.setViewportSize(viewportOf({ phone: true }));
  await page.emulateMedia({ colorScheme: 'light' });
  await visit.look('outboxes-failed-phone');
  await page.setViewportSize(viewportOf({}));
  await own.pool.query(`update email_outbox set template = 't-0001' where id = $1`, [one]);
  await failed.getByRole('button', { name: `Retry row ${one}` }).click();
  await page.getByText('Its reader retries within seconds.').waitFor();
  await failed.getByText(`Row ${one}`).waitFor({ state: 'detached' });
  assert.equal(await answerOf(one), 'accepted');
  await own.pool.query(`update email_outbox set to_address = 'bob@people.test' where id = $1`, [
    two,
  ]);
  await failed.getByRole('button', { name: 'Retry all' }).click();
  await failed.waitFor({ state: 'detached' });
  assert.equal(await answerOf(two), 'accepted');
});

it('outboxes: why a table can’t be read is shown, and a new URL mends it; the outbox is removed by its name', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/outboxes`);
  await own.pool.query('alter table email_outbox rename to elsewhere');
  const failing = page.getByRole('alert').filter({ hasText: /^Failing since .*TABLE_MISSING/ });
  await failing.getByText('doesn’t exist').waitFor();
  const row = page.getByRole('row').filter({ hasText: 'email_outbox in 127.0.0.1' });
  await row.getByText('Failing', { exact: true }).waitFor();
  await visit.look('outboxes-failing');
  await page.emulateMedia({ colorScheme: 'dark' });
  await visit.look('outboxes-failing-dark', colorRules);
  await page.setViewportSize(viewportOf({ phone: true }));
  await visit.look('outboxes-failing-phone');
  await page.setViewportSize(viewportOf({}));
  await page.emulateMedia({ colorScheme: 'light' });
  await own.pool.query('alter table elsewhere rename to email_outbox');
  await row.getByRole('button', { name: 'Actions for orders' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog', { name: 'Edit orders' });
  assert.equal(await dialog.getByRole('textbox', { name: 'Table', exact: true }).count(), 0);
  assert.equal(await dialog.getByLabel('URL').inputValue(), '');
  await dialog.getByLabel('Max rows per second').fill('7');
  await visit.look('outbox-edit');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await row.getByText('Max 7/s').waitFor();
  await row.getByText('Active').waitFor();
  await failing.waitFor({ state: 'detached' });
  await row.getByRole('button', { name: 'Actions for orders' }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  const confirm = page.getByRole('dialog', { name: 'Remove this outbox?' });
  await confirm.getByLabel('Type orders to confirm').fill('orders');
  await confirm.getByRole('button', { name: 'Remove' }).click();
  await page.getByText('No outboxes yet').waitFor();
  const { rows } = await database.pool.query(
    `select kind from audit_event where kind like 'outbox%' order by id`,
  );
  assert.deepEqual(
    [...new Set(rows.map(({ kind }) => kind))],
    ['outbox_source_created', 'outbox_source_changed', 'outbox_source_removed'],
  );
});

it('outboxes: a list that can’t be loaded says so and is loaded again', async (visit) => {
  const { page } = visit;
  let broken = true;
  // 429, because the browser complains of a failed load and of an error of the service.
  await page.route('**/outbox-sources', (route) =>
    broken
      ? route.fulfill({ status: 429, json: { title: 'Too many requests' } })
      : route.continue(),
  );
  await visit.open(`${shop.id}/outboxes`);
  await page.getByRole('alert').waitFor();
  await visit.look('outboxes-error');
  broken = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('No outboxes yet').waitFor();
});

it('outboxes: people who may not read them have no page', async () => {
  const membership = { accountId: shop.id, personId: shop.owner.id };
  await saveMembership(database.kysely, { ...membership, role: 'marketer' });
  const visit = await signedIn();
  const { page } = visit;
  await visit.open(`${shop.id}/outboxes`);
  await page.getByRole('alert', { name: 'Permission denied' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Add an outbox' }).count(), 0);
  await visit.close();
  await saveMembership(database.kysely, { ...membership, role: 'owner' });
});
