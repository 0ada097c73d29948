import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openConsoleWorld } from '../support/console-world.ts';

const { database, shop, signedIn } = await openConsoleWorld();
await database.pool.query(
  `insert into contact_list (account_id, id, name, folder_name, description)
   values ($1, 'l-1', 'Customers', '', 'Everyone')`,
  [shop.id],
);
const folder = await mkdtemp(join(tmpdir(), 'console-'));
after(() => rm(folder, { recursive: true }));

test('lists: contacts are imported with progress, found, removed and brought back; wrong rows are named', async () => {
  const file = join(folder, 'contacts.csv');
  await writeFile(file, 'email,Name\nann@people.test,Ann\nnot an address,Bob\n');
  const visit = await signedIn();
  const { page } = visit;
  await visit.open(`${shop.id}/lists/l-1`);
  await page.getByRole('button', { name: 'Import CSV' }).click();
  const dialog = page.getByRole('dialog');
  await page.locator('input[type=file]').setInputFiles(file);
  await dialog.getByRole('button', { name: 'Import', exact: true }).click();
  await dialog.getByText('Done: one row written, one row could not be used.').waitFor();
  await dialog.getByText(/line 3/).waitFor();
  await visit.look('import');
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  const cell = page.getByRole('cell', { name: 'ann@people.test', exact: true });
  await cell.waitFor();
  await page.getByRole('button', { name: 'Remove ann@people.test' }).click();
  await cell.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Undo' }).click();
  await cell.waitFor();
  await page.getByRole('cell', { name: 'Ann', exact: true }).waitFor();
  await page.getByLabel('Address begins with').fill('zoe');
  await page.getByText('No address begins like this').waitFor();
  await visit.end();
});

test('suppressions: an address is suppressed, and a test to it is refused with the reason', async () => {
  const visit = await signedIn();
  const { page } = visit;
  await visit.open(`${shop.id}/suppressions`);
  await page.getByText('Nobody is suppressed').waitFor();
  await page.getByRole('button', { name: 'Suppress an address' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Address').fill('no@people.test');
  await dialog.getByRole('button', { name: 'Suppress an address' }).click();
  await page.getByRole('cell', { name: 'no@people.test', exact: true }).waitFor();
  await visit.open(`${shop.id}/templates/t-0001`);
  await page.getByRole('button', { name: 'Send a test' }).click();
  await dialog.getByLabel('To').fill('no@people.test');
  await dialog.getByRole('button', { name: 'Send a test' }).click();
  await dialog.getByText(/suppressed/).waitFor();
  await visit.end();
});

test('suppressions: a file is imported, its wrong lines are named, and a removal is taken back', async () => {
  const file = join(folder, 'suppressions.csv');
  await writeFile(file, 'address,reason\nzed@people.test,complaint\nnobody,manual\n');
  const visit = await signedIn();
  const { page } = visit;
  await visit.open(`${shop.id}/suppressions`);
  await page.getByRole('button', { name: 'Import CSV' }).click();
  const dialog = page.getByRole('dialog');
  await page.locator('input[type=file]').setInputFiles(file);
  await dialog.getByRole('button', { name: 'Import', exact: true }).click();
  await dialog.getByText('Done: one row written, one row could not be used.').waitFor();
  await dialog.getByText(/line 3/).waitFor();
  await visit.look('suppressions-import');
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  const row = page.getByRole('row', { name: /zed@people\.test/ });
  await row.getByText('Complained').waitFor();
  await row.getByRole('button', { name: 'Remove' }).click();
  await row.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Undo' }).click();
  await row.getByText('Complained').waitFor();
  await visit.end();
});
