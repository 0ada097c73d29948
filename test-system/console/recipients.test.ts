import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { signInToManagement } from '../../test/support/management-client.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { openConsoleWorld } from '../support/console-world.ts';

const { database, service, shop, it } = await openConsoleWorld();

/** A second person who works on the account. */
const colleague = await signInToManagement(service, shop.owner.email);
const lists = `/accounts/${shop.id}/lists`;
await database.pool.query(
  `insert into contact_list (account_id, id, name, folder_name, description)
   values ($1, 'l-1', 'Customers', '', 'Everyone')`,
  [shop.id],
);
const folder = await mkdtemp(join(tmpdir(), 'console-'));
after(() => rm(folder, { recursive: true }));

it('lists: an import outlives its dialog and page, says what is wrong with each row, and offers the rejected rows; contacts are found, removed and restored', async (visit) => {
  const { page } = visit;
  const file = join(folder, 'contacts.csv');
  await writeFile(file, 'email;Name\nann@people.test;Ann\nnot an address;Bob\n');
  await visit.open(`${shop.id}/lists/l-1`);
  await page.getByRole('button', { name: 'Import CSV' }).first().click();
  const dialog = page.getByRole('dialog');
  await page.locator('input[type=file]').setInputFiles(file);
  await dialog.getByRole('button', { name: 'Import', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  const imports = page.getByRole('region', { name: 'Recent imports' });
  await imports.getByText('1 row imported, 1 row rejected.').waitFor();
  await page.reload();
  await imports.getByText('contacts.csv').waitFor();
  await imports.getByText('1 row imported, 1 row rejected.').waitFor();
  await imports.getByText('Line 3: The address has no @.').waitFor();
  await visit.look('import');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    imports.getByRole('link', { name: 'Download the rejected row (CSV)' }).click(),
  ]);
  const lines: string[] = [];
  for await (const chunk of await download.createReadStream()) lines.push(String(chunk));
  assert.match(lines.join(''), /^3,The address has no @,not an address,Bob\r$/m);
  const cell = page.getByRole('cell', { name: 'ann@people.test', exact: true });
  await cell.waitFor();
  await page.getByRole('button', { name: 'Remove ann@people.test' }).click();
  await cell.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Undo' }).click();
  await cell.waitFor();
  await page.getByRole('cell', { name: 'Ann', exact: true }).waitFor();
  await page.getByLabel('Address starts with').fill('zoe');
  await page.getByText('No contacts match your search').waitFor();
});

it('lists: an import that stopped in the middle says so, and continues with the same file only', async (visit) => {
  const { page } = visit;
  const file = join(folder, 'many.csv');
  const other = join(folder, 'other.csv');
  await writeFile(file, 'email,Name\neve@people.test,Eve\nfred@people.test,Fred\n');
  await writeFile(other, 'email,Name\nzed@people.test,Zed\n');
  await colleague.put(`${lists}/l-2`, { name: 'Stopped' });
  await visit.open(`${shop.id}/lists/l-2`);
  await page.getByRole('button', { name: 'Import CSV' }).first().click();
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByRole('dialog').getByRole('button', { name: 'Import', exact: true }).click();
  const imports = page.getByRole('region', { name: 'Recent imports' });
  await imports.getByText('2 rows imported, 0 rows rejected.').waitFor();
  // The state that a process leaves behind when it is killed after the first row.
  await database.pool.query(
    `update file_import set state = 'running', rows_read = 1, rows_written = 1, bytes_read = bytes_total / 2,
       changed_at = now() - interval '2 minutes'
     where account_id = $1 and list_id = 'l-2'`,
    [shop.id],
  );
  await page.reload();
  await imports.getByText('Stopped', { exact: true }).waitFor();
  await imports.getByText(/interrupted at \d\d(\.\d)?% of the file\. 1 row imported/).waitFor();
  await visit.look('import-stopped');
  await imports.getByRole('button', { name: 'Continue' }).click();
  const dialog = page.getByRole('dialog', { name: 'Continue the import' });
  await dialog.locator('input[type=file]').setInputFiles(other);
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await dialog.getByText(/isn’t the file that the import started with/).waitFor();
  await dialog.locator('input[type=file]').setInputFiles(file);
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await dialog.waitFor({ state: 'detached' });
  await imports.getByText('Done', { exact: true }).waitFor();
  await imports.getByText('2 rows imported, 0 rows rejected.').waitFor();
});

it('lists: a list is created and opened; an existing ID is rejected at its field and leaves the other list unchanged', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/lists`);
  await page.getByText('Contact lists your apps read through the API.').waitFor();
  await page.getByRole('button', { name: 'New list' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('News');
  await dialog.getByLabel('List ID').fill('l-1');
  await dialog.getByRole('button', { name: 'Create list' }).click();
  await dialog.getByRole('alert').getByText('Fix the marked field.').waitFor();
  await dialog.getByText('Already exists.').waitFor();
  assert.equal(await dialog.getByLabel('List ID').getAttribute('aria-invalid'), 'true');
  await visit.look('list-taken');
  assert.equal((await colleague.get(`${lists}/l-1`)).body.name, 'Customers');
  await dialog.getByLabel('List ID').fill('news');
  await page.mouse.click(4, 4);
  await dialog.getByRole('button', { name: 'Create list' }).click();
  await page.getByRole('link', { name: 'News' }).click();
  await page.getByText('No contacts yet').waitFor();
  assert.equal(await page.getByLabel('Address starts with').count(), 0, 'nothing to find');
  await page.getByRole('button', { name: 'Actions for News' }).click();
  await page.getByRole('menuitem', { name: 'Remove list' }).click();
  await dialog.getByLabel('Type news to confirm').fill('news');
  await dialog.getByRole('button', { name: 'Remove list' }).click();
  await page.waitForURL(/lists$/);
});

it('lists: a file without an email column is rejected with the reason; a list removed by someone else shows “List not found” and keeps the typed text', async (visit) => {
  const { page } = visit;
  const file = join(folder, 'names.csv');
  await writeFile(file, 'name\nAnn\n');
  await colleague.put(`${lists}/l-gone`, { name: 'Gone soon' });
  await visit.open(`${shop.id}/lists/l-gone`);
  await page.getByRole('button', { name: 'Import CSV' }).first().click();
  const dialog = page.getByRole('dialog');
  await page.locator('input[type=file]').setInputFiles(file);
  await dialog.getByRole('button', { name: 'Import', exact: true }).click();
  const imports = page.getByRole('region', { name: 'Recent imports' });
  await imports.getByText('The file needs a column “email”. It has: name.').waitFor();
  await imports.getByText('Failed', { exact: true }).waitFor();
  assert.equal(await imports.getByText(/rows imported/).count(), 0, 'no row was read');
  assert.equal(await page.getByRole('button', { name: 'Import CSV' }).count(), 1);
  await visit.look('import-failed');
  await imports.getByRole('button', { name: 'Choose another file' }).click();
  await dialog.getByText('CSV file').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Add a contact' }).first().click();
  await dialog.getByLabel('Address').fill('ann@people.test');
  assert.equal((await colleague.delete(`${lists}/l-gone`)).status, 204);
  await dialog.getByRole('button', { name: 'Save' }).click();
  const alert = dialog.getByRole('alert');
  await alert.getByText('List not found').waitFor();
  assert.equal(await dialog.getByLabel('Address').inputValue(), 'ann@people.test');
  await alert.getByRole('button', { name: 'Show current values' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('alert').first().getByText('List not found').waitFor();
});

it('lists: a contact changed by someone else is shown, and neither an edit nor a removal overwrites it', async (visit) => {
  const { page } = visit;
  const contact = `${lists}/l-1/contacts/cara@people.test`;
  const note = ' c/o: Ann\nHauptstr. 1 ';
  await colleague.put(contact, { fields: { Name: 'Cara', Note: note } });
  await visit.open(`${shop.id}/lists/l-1`);
  const row = page.getByRole('row', { name: /cara@people\.test/ });
  await row.getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Value of field 1').fill('Cara C.');
  await colleague.put(contact, { fields: { Name: 'Cara', Note: note, City: 'Bonn' } });
  await dialog.getByRole('button', { name: 'Save' }).click();
  const alert = dialog.getByRole('alert', { name: 'Someone else changed this' });
  await alert.getByText(/^Fields: Name: Cara, Note/).waitFor();
  await alert.getByRole('button', { name: 'Show current values' }).click();
  await row.getByRole('cell', { name: 'Bonn' }).waitFor();
  await row.getByRole('button', { name: 'Edit' }).click();
  const name = dialog.getByLabel('Value of field 2');
  assert.equal(await name.inputValue(), 'Cara');
  await name.fill('Cara C.');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await row.getByRole('cell', { name: 'Cara C.' }).waitFor();
  assert.deepEqual((await colleague.get(contact)).body.fields, {
    Name: 'Cara C.',
    Note: note,
    City: 'Bonn',
  });
  await colleague.put(contact, { fields: { Name: 'Cara C.', City: 'Berlin' } });
  await row.getByRole('button', { name: 'Remove cara@people.test' }).click();
  await row.getByRole('alert', { name: 'Someone else changed this' }).waitFor();
  await visit.look('contact-conflict');
  await row.getByRole('button', { name: 'Show current values' }).click();
  await row.getByRole('cell', { name: 'Berlin' }).waitFor();
  await row.getByRole('button', { name: 'Remove cara@people.test' }).click();
  await row.waitFor({ state: 'detached' });
});

it('suppressions: an address is suppressed, and a test message to it is rejected with the reason', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/suppressions`);
  await page.getByText('No suppressed addresses').waitFor();
  assert.equal(await page.getByLabel('Reason').count(), 0, 'there is nothing to filter');
  await page.getByRole('button', { name: 'Suppress an address' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Address').fill('no@people.test');
  await dialog.getByRole('button', { name: 'Suppress an address' }).click();
  await page.getByRole('cell', { name: 'no@people.test', exact: true }).waitFor();
  await visit.move(`${shop.id}/templates/t-0001`);
  await page.getByRole('button', { name: 'Send a test' }).click();
  await dialog.getByLabel('To').fill('no@people.test');
  await dialog.getByRole('button', { name: 'Send a test' }).click();
  await dialog.getByText(/suppressed/).waitFor();
});

it('suppressions: an import lists the invalid lines of its file; a removal is undone', async (visit) => {
  const { page } = visit;
  const file = join(folder, 'suppressions.csv');
  await writeFile(file, 'address,reason\nzed@people.test,complaint\nnobody,manual\n');
  await visit.open(`${shop.id}/suppressions`);
  await page.getByRole('button', { name: 'Import CSV' }).first().click();
  const dialog = page.getByRole('dialog');
  await page.locator('input[type=file]').setInputFiles(file);
  await dialog.getByRole('button', { name: 'Import', exact: true }).click();
  const imports = page.getByRole('region', { name: 'Recent imports' });
  await imports.getByText('1 row imported, 1 row rejected.').waitFor();
  await imports.getByText('Line 3: The address has no @.').waitFor();
  await visit.look('suppressions-import');
  const row = page.getByRole('row', { name: /zed@people\.test/ });
  await row.getByText('Complaint').waitFor();
  await row.getByRole('button', { name: 'Remove' }).click();
  await row.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Undo' }).click();
  await row.getByText('Complaint').waitFor();
  await page.getByText('zed@people.test is suppressed again.').waitFor();
  const zed = `/accounts/${shop.id}/suppressions/zed@people.test`;
  await colleague.put(zed, { reason: 'unsubscribe' });
  await page.reload();
  await row.filter({ hasText: 'Complaint' }).getByRole('button', { name: 'Remove' }).click();
  await page
    .getByText('“Complaint” removed for zed@people.test. It’s still suppressed as “Unsubscribed”.')
    .waitFor();
  await visit.look('suppression-left');
  await page.getByLabel('Reason').selectOption('unsubscribe');
  await page.getByLabel('Address contains').fill('zed');
  await page.waitForURL(/contains=zed/);
  await row.getByText('Unsubscribed').waitFor();
  await page.getByRole('link', { name: 'Lists', exact: true }).click();
  await page.waitForURL(/lists$/);
  await page.goBack();
  await page.reload();
  await row.getByText('Unsubscribed').waitFor();
  assert.equal(await page.getByLabel('Address contains').inputValue(), 'zed');
  assert.equal(await page.getByLabel('Reason').inputValue(), 'unsubscribe');
  await page.getByRole('link', { name: 'Suppressions', exact: true }).click();
  await page.waitForURL(/suppressions$/);
  await row.getByText('Unsubscribed').waitFor();
  const contains = page.getByLabel('Address contains');
  await waitFor('the field to be empty', async () => (await contains.inputValue()) === '');
});
