import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openConsoleWorld } from '../support/console-world.ts';

const { database, shop, signedIn } = await openConsoleWorld();

test('templates: a mistake is marked in place and cannot be published; versions are compared as they look, and rolled back', async () => {
  const visit = await signedIn();
  const { page } = visit;
  await visit.open(`${shop.id}/templates/t-0001`);
  await page.getByLabel('Subject').fill('Changed {{Order Number');
  await page.getByText('There is no preview while the content has errors.').waitFor();
  await visit.look('editor-problem');
  await page.getByRole('button', { name: 'Publish' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByLabel('Subject').fill('Changed {{Order Number}}');
  await page.getByText('No problems found.').waitFor();
  const source = page.getByRole('textbox', { name: 'HTML' });
  await source.press('ControlOrMeta+End');
  await page.keyboard.insertText('<p>With a new line.</p>');
  await page
    .getByRole('region', { name: 'Preview' })
    .frameLocator('iframe')
    .getByText('With a new line.')
    .waitFor();
  await page.getByRole('button', { name: 'Publish' }).click();
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await page.waitForURL(/use$/);
  await page.getByRole('tab', { name: 'Versions' }).click();
  const added = page
    .getByRole('region', { name: 'Version 2' })
    .frameLocator('iframe')
    .getByText('With a new line.');
  assert.match((await added.getAttribute('style')) ?? '', /outline/);
  const kept = page.getByRole('region', { name: 'Version 1' }).frameLocator('iframe');
  await kept.getByText('Hello').waitFor();
  assert.equal(await kept.locator('[style*="outline"]').count(), 0, 'nothing went away');
  await visit.look('versions-rendered');
  await page.getByText('Source', { exact: true }).click();
  await page.locator('.cm-changedLine').first().waitFor();
  await visit.look('versions-source');
  const first = page.getByRole('row', { name: /^Version 1 / });
  await first.getByRole('button', { name: 'Roll back to this' }).click();
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await dialog.waitFor({ state: 'detached' });
  const { rows } = await database.pool.query(
    `select published_version from template where id = 't-0001'`,
  );
  assert.equal(rows[0]?.published_version, 1);
  await visit.end();
});

test('templates: one is duplicated, removed and brought back; an id that is taken is refused', async () => {
  const visit = await signedIn();
  const { page } = visit;
  await visit.open(`${shop.id}/templates`);
  const menu = page.getByRole('button', { name: /^Actions for/ });
  await menu.first().click();
  await page.getByRole('menuitem', { name: 'Duplicate' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Template id').fill('t-0001');
  await dialog.getByRole('button', { name: 'Duplicate' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel('Name').fill('A second one');
  await dialog.getByLabel('Template id').fill('t-0002');
  await dialog.getByRole('button', { name: 'Duplicate' }).click();
  await page.waitForURL(/templates\/t-0002$/);
  await page.getByRole('region', { name: 'Preview' }).locator('iframe').waitFor();
  await page.getByRole('button', { name: 'Actions for A second one' }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await page.getByText('A second one was removed.').waitFor();
  await page.waitForURL(/templates$/);
  await page.getByRole('link', { name: 'A second one' }).waitFor({ state: 'detached' });
  await visit.look('undo');
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('link', { name: 'A second one' }).click();
  await page.getByRole('region', { name: 'Preview' }).locator('iframe').waitFor();
  await visit.end();
});

test('templates: a draft that is discarded by mistake is taken back with every word', async () => {
  const visit = await signedIn();
  const { page } = visit;
  await visit.open(`${shop.id}/templates/t-0001`);
  await page.getByLabel('Subject').fill('Words that took an hour');
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.getByRole('button', { name: 'Discard draft' }).click();
  await page.getByText('The draft was discarded.').waitFor();
  assert.notEqual(await page.getByLabel('Subject').inputValue(), 'Words that took an hour');
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Taken back.').waitFor();
  await page.locator('input[value="Words that took an hour"]').waitFor();
  await visit.end();
});
