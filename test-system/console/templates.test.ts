import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signInToManagement } from '../../test/support/management-client.ts';
import { password } from '../../test/support/session-world.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { openConsoleWorld } from '../support/console-world.ts';

const { database, service, shop, it, signedIn } = await openConsoleWorld();

/** A second person who works on the account. */
const colleague = await signInToManagement(service, shop.owner.email);
const templates = `/accounts/${shop.id}/templates`;

function draftOf(subject: string) {
  return { subject, html: '<p>Hello</p>', sender: 'orders@shop.test', fields: {} };
}

async function publish(id: string, subject: string): Promise<void> {
  await colleague.put(`${templates}/${id}/draft`, draftOf(subject));
  assert.equal((await colleague.post(`${templates}/${id}/publish`, {})).status, 200);
}

test('templates: an error is marked in place and prevents publishing; versions are compared as rendered and rolled back', async () => {
  const visit = await signedIn({ wide: true });
  const { page } = visit;
  await visit.open(`${shop.id}/templates/t-0001`);
  await page.getByRole('textbox', { name: 'Subject', exact: true }).fill('Changed {{Order Number');
  await page.getByText('Fix the errors in the content to see a preview.').waitFor();
  await visit.look('editor-problem');
  await page.getByRole('button', { name: 'Publish' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page
    .getByRole('textbox', { name: 'Subject', exact: true })
    .fill('Changed {{Order Number}}');
  await page.getByText(/^No problems/).waitFor();
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
  await added.locator('mark').nth(3).waitFor();
  assert.equal(await added.locator('mark').count(), 4, 'each word is marked');
  const kept = page.getByRole('region', { name: 'Version 1' }).frameLocator('iframe');
  await kept.getByText('Hello').waitFor();
  assert.equal(await kept.locator('mark, [style*="outline"]').count(), 0, 'nothing was removed');
  await visit.look('versions-rendered');
  await page.getByText('Source', { exact: true }).click();
  await page.locator('.cm-changedLine').first().waitFor();
  await visit.look('versions-source');
  const first = page.getByRole('row', { name: /^Version 1 / });
  await first.getByRole('link', { name: 'Version 1' }).click();
  await dialog.frameLocator('iframe').getByText('Hello').waitFor();
  await page.waitForURL(/versions\?shown=1$/);
  await visit.look('version-shown');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('combobox', { name: 'Compare', exact: true }).selectOption('2');
  await page.getByText('These versions are identical.').waitFor();
  await first.getByRole('button', { name: 'Actions for Version 1' }).click();
  await page.getByRole('menuitem', { name: 'Compare with current' }).click();
  await page.locator('.cm-changedLine').first().waitFor();
  await first.getByRole('button', { name: 'Actions for Version 1' }).click();
  await page.getByRole('menuitem', { name: 'Roll back to this version' }).click();
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await dialog.waitFor({ state: 'detached' });
  const { rows } = await database.pool.query(
    `select published_version from template where id = 't-0001'`,
  );
  assert.equal(rows[0]?.published_version, 1);
  await visit.end();
});

test('templates: a template is duplicated, removed and restored; an existing ID is rejected', async () => {
  const visit = await signedIn({ wide: true });
  const { page } = visit;
  await visit.open(`${shop.id}/templates`);
  const menu = page.getByRole('button', { name: /^Actions for/ });
  await menu.first().click();
  await page.getByRole('menuitem', { name: 'Duplicate' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Template ID').fill('t-0001');
  await dialog.getByRole('button', { name: 'Duplicate' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel('Name').fill('A second one');
  await dialog.getByLabel('Template ID').fill('t-0002');
  await dialog.getByRole('button', { name: 'Duplicate' }).click();
  await page.waitForURL(/templates\/t-0002$/);
  await page.getByRole('region', { name: 'Preview' }).locator('iframe').waitFor();
  await page.getByRole('button', { name: 'Actions for A second one' }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await page.getByText('A second one removed.').waitFor();
  await page.waitForURL(/templates$/);
  await page.getByRole('link', { name: 'A second one' }).waitFor({ state: 'detached' });
  await visit.look('undo');
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('link', { name: 'A second one' }).click();
  await page.getByRole('region', { name: 'Preview' }).locator('iframe').waitFor();
  await visit.end();
});

it('templates: Ctrl+S saves only changes, and a discarded draft can be restored completely', async (visit) => {
  const { page } = visit;
  const saves: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'PUT') saves.push(request.url());
  });
  await visit.open(`${shop.id}/templates/t-0001`);
  const subject = page.getByRole('textbox', { name: 'Subject', exact: true });
  await subject.focus();
  await page.keyboard.press('ControlOrMeta+s');
  await subject.fill('Words that took an hour');
  await page.getByText('Unsaved changes').waitFor();
  await page.keyboard.press('ControlOrMeta+s');
  await page.getByText('Saved', { exact: true }).waitFor();
  await page.getByText('Version 1 published').waitFor();
  assert.equal(saves.length, 1, 'the unchanged version was not saved as a draft');
  await page.getByRole('button', { name: 'Actions for t-0001' }).click();
  await page.getByRole('menuitem', { name: 'Discard draft' }).click();
  await page.getByText('Draft discarded.').waitFor();
  assert.notEqual(
    await page.getByRole('textbox', { name: 'Subject', exact: true }).inputValue(),
    'Words that took an hour',
  );
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone.').waitFor();
  await page.locator('input[value="Words that took an hour"]').waitFor();
});

it('templates: “Use it” links to the editor if nothing is published yet; a removed template shows “Template not found”', async (visit) => {
  const { page } = visit;
  await colleague.put(`${templates}/t-unused`, { name: 'Unused' });
  await visit.open(`${shop.id}/templates/t-unused/use`);
  await page.getByText('This template isn’t published yet').waitFor();
  assert.equal(await page.locator('pre').count(), 0, 'no example that would be refused is shown');
  await visit.look('use-unpublished');
  await page.getByRole('link', { name: 'Publish it in the editor' }).click();
  await page.waitForURL(/templates\/t-unused$/);
  await page.getByRole('tab', { name: 'Use it' }).click();
  assert.equal((await colleague.delete(`${templates}/t-unused`)).status, 204);
  await page.reload();
  const alert = page.getByRole('alert');
  await alert.getByText('Template not found').waitFor();
  await alert.getByText('It may have been removed.').waitFor();
  await visit.look('use-removed');
  await page.getByRole('link', { name: 'All templates' }).click();
  await page.getByRole('link', { name: 't-0001' }).first().waitFor();
});

it('versions: a rollback first shows a version that someone else has published meanwhile', async (visit) => {
  const { page } = visit;
  await colleague.put(`${templates}/t-back`, { name: 'Back' });
  await publish('t-back', 'One');
  await publish('t-back', 'Two');
  await visit.open(`${shop.id}/templates/t-back/versions`);
  const first = page.getByRole('row', { name: /^Version 1 / });
  const dialog = page.getByRole('dialog');
  await first.getByRole('button', { name: 'Actions for Version 1' }).click();
  await page.getByRole('menuitem', { name: 'Roll back to this version' }).click();
  await dialog.getByText('Publish version 1 again?').waitFor();
  await publish('t-back', 'Three');
  await dialog.getByRole('button', { name: 'Publish' }).click();
  const alert = dialog.getByRole('alert', { name: 'Someone else changed this' });
  await alert.getByText('Published version: 2 → 3').waitFor();
  await visit.look('versions-conflict');
  await alert.getByRole('button', { name: 'Show current values' }).click();
  await dialog.waitFor({ state: 'detached' });
  const third = page.getByRole('row', { name: /^Version 3 / });
  await third.getByText('Current', { exact: true }).waitFor();
  await third.getByText(/ · by \w/).waitFor();
  await first.getByRole('button', { name: 'Actions for Version 1' }).click();
  await page.getByRole('menuitem', { name: 'Roll back to this version' }).click();
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await dialog.waitFor({ state: 'detached' });
  await first.getByText('Current', { exact: true }).waitFor();
  assert.equal((await colleague.get(`${templates}/t-back`)).body.publishedVersion, 1);
});

test('templates: a first version is published at once, unless something prevents it; hints and missing samples are one click from their fix', async () => {
  await colleague.put(`${templates}/t-first`, { name: 'First' });
  const tables =
    '<table role="none"><tr><td><table><tr><td>1</td></tr></table></td></tr></table><table><tr><th>2</th></tr></table>';
  await colleague.put(`${templates}/t-first/draft`, {
    ...draftOf('Order {{Order Number'),
    html: `<p>Hello</p>${tables}`,
  });
  const visit = await signedIn({ wide: true });
  const { page } = visit;
  await visit.open(`${shop.id}/templates/t-first`);
  await page.getByRole('button', { name: 'Publish' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('alert').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  const subject = page.getByRole('textbox', { name: 'Subject', exact: true });
  await subject.fill('Order {{Order Number}}');
  const preview = page.getByRole('region', { name: 'Preview' });
  await preview.locator('mark').getByText('Order Number', { exact: true }).waitFor();
  await preview.getByText('1 field has no sample value.').waitFor();
  await visit.look('editor-unfilled');
  await preview.getByRole('button', { name: 'Add one' }).click();
  await page.keyboard.type('A-1001');
  await preview.getByText('Order A-1001').waitFor();
  await preview.getByText(/no sample value/).waitFor({ state: 'detached' });
  const hints = page.getByRole('list', { name: 'Hints' });
  const fix = (hint: string) =>
    hints.getByRole('listitem').filter({ hasText: hint }).getByRole('button', { name: 'Fix' });
  await fix('The email doesn’t declare its language').click();
  await page.getByText('<html lang="en">').waitFor();
  await fix('1 of 2 layout tables has no role="presentation"').click();
  await page.getByText('<td><table role="presentation"><tr>').waitFor();
  await fix('There is no preview text').click();
  await page.keyboard.type('Thank you');
  await hints.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.waitForURL(/templates\/t-first\/use$/);
  const { body } = await colleague.get(`${templates}/t-first/versions/1`);
  const content = body.content as { readonly html: string; readonly previewText: string };
  assert.match(content.html, /^<html lang="en">\s*<p>Hello<\/p>.*\s*<\/html>/);
  assert.ok(
    content.html.includes(tables.replace('<td><table>', '<td><table role="presentation">')),
  );
  assert.equal(content.previewText, 'Thank you');
  await visit.end();
});

it('templates: line breaks in samples and defaults survive edits', async (visit) => {
  const { page } = visit;
  const lines = '1 High Street\nOxford\nUK';
  const address = { sample: lines, default: lines };
  await colleague.put(`${templates}/t-lines`, { name: 'Lines' });
  await colleague.put(`${templates}/t-lines/draft`, {
    ...draftOf('To {{Delivery Address}}'),
    fields: { 'Delivery Address': address },
  });
  await visit.open(`${shop.id}/templates/t-lines`);
  await page
    .getByRole('textbox', { name: 'Subject', exact: true })
    .fill('طلبك {{Delivery Address}}');
  const direction = "getComputedStyle(document.querySelector('input[dir]')).direction";
  assert.equal(await page.evaluate(direction), 'rtl');
  await page.getByLabel('Sample for Delivery Address').press('ControlOrMeta+End');
  await page.keyboard.type('!');
  await page.getByRole('button', { name: /^Options for Delivery Address$/ }).click();
  await page.getByLabel('Default', { exact: true }).press('ControlOrMeta+End');
  await page.keyboard.type('?');
  await visit.look('editor-lines');
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  const { body } = await colleague.get(`${templates}/t-lines/draft`);
  assert.deepEqual((body.content as { fields: unknown }).fields, {
    'Delivery Address': { sample: `${lines}!`, default: `${lines}?` },
  });
});

test('templates: text typed before the session expired is kept, and saved after signing in again', async () => {
  await colleague.put(`${templates}/t-session`, { name: 'Session' });
  await colleague.put(`${templates}/t-session/draft`, draftOf('At first'));
  const visit = await signedIn({ separate: true });
  const { page, context } = visit;
  await visit.open(`${shop.id}/templates/t-session`);
  await page.getByRole('textbox', { name: 'Subject', exact: true }).fill('Words that took an hour');
  await context.clearCookies();
  await page.getByRole('button', { name: 'Save draft' }).click();
  const alert = page.getByRole('alert', { name: 'Your session has ended' }).first();
  await alert.waitFor();
  await visit.look('editor-session');
  const [beside] = await Promise.all([
    context.waitForEvent('page'),
    alert.getByRole('link', { name: 'Open the sign-in page' }).click(),
  ]);
  await beside.getByLabel('Email address').fill(shop.owner.email);
  await beside.getByLabel('Password').fill(password);
  await beside.getByRole('button', { name: 'Sign in' }).click();
  await beside.waitForURL(/\/console\/\w+/);
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  const { body } = await colleague.get(`${templates}/t-session/draft`);
  assert.equal((body.content as { subject: string }).subject, 'Words that took an hour');
  await visit.end();
});

it('templates: when two users edit the same draft, the second gets a warning and chooses whose text to keep', async (visit) => {
  const { page } = visit;
  await colleague.put(`${templates}/t-both`, { name: 'Both' });
  await colleague.put(`${templates}/t-both/draft`, draftOf('Theirs at first'));
  await visit.open(`${shop.id}/templates/t-both`);
  const subject = page.getByRole('textbox', { name: 'Subject', exact: true });
  const save = page.getByRole('button', { name: 'Save draft' });
  await subject.fill('Mine');
  await colleague.put(`${templates}/t-both/draft`, draftOf('Theirs again'));
  await save.click();
  const alert = page.getByRole('alert', { name: 'Someone else saved this draft' });
  await alert.waitFor();
  assert.equal(await subject.inputValue(), 'Mine', 'nothing typed is lost');
  await visit.look('editor-conflict');
  await alert.getByRole('button', { name: 'Keep mine' }).click();
  await alert.waitFor({ state: 'detached' });
  await page.getByText('Saved', { exact: true }).waitFor();
  const kept = await colleague.get(`${templates}/t-both/draft`);
  assert.equal((kept.body.content as { subject: string }).subject, 'Mine');
  await colleague.put(`${templates}/t-both/draft`, draftOf('Theirs at last'));
  await subject.fill('Mine once more');
  await save.click();
  await alert.getByRole('button', { name: 'Load theirs' }).click();
  await page.locator('input[value="Theirs at last"]').waitFor();
});

/** A blue square of 8 pixels. */
const logo = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAYAAADED76LAAAAFklEQVR42mPUz3/7nwEPYBwZCpgYKAQA9JMCn3xQYAEAAAAASUVORK5CYII=',
  'base64',
);

it('templates: a test whose values aren’t JSON isn’t sent, and its field gets the focus', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/templates/t-0001`);
  await page.getByRole('button', { name: 'Send a test' }).click();
  const dialog = page.getByRole('dialog');
  const values = dialog.getByLabel('Values');
  await values.fill('{oops');
  await dialog.getByText('This isn’t valid JSON.').waitFor();
  await dialog.getByRole('button', { name: 'Send a test' }).click();
  await page.waitForFunction("document.activeElement?.value === '{oops'");
  assert.equal(
    await dialog.getByRole('button', { name: 'Send a test' }).count(),
    1,
    'it wasn’t sent',
  );
});

test('templates: an image is added, shown, saved, restored after a discard, and removed', async () => {
  const visit = await signedIn({ wide: true });
  const { page } = visit;
  await colleague.put(`${templates}/t-image`, { name: 'With an image' });
  const html = '<p>Hello</p><img src="cid:shop-logo" alt="Shop" width="80" height="80">';
  await colleague.put(`${templates}/t-image/draft`, { ...draftOf('Image'), html });
  await visit.open(`${shop.id}/templates/t-image`);
  await page.getByText(/cid:shop-logo, which is not an image/).waitFor();
  await page
    .getByLabel('Attach image')
    .setInputFiles({ name: 'Shop logo.png', mimeType: 'image/png', buffer: logo });
  const images = page.getByRole('region', { name: 'Images' });
  await images.getByText('cid:shop-logo').waitFor();
  await images.getByText(/Shop logo\.png/).waitFor();
  const shown = page
    .getByRole('region', { name: 'Preview' })
    .frameLocator('iframe')
    .locator('img[src^="data:image/png"]');
  await shown.waitFor();
  await page.getByText(/^No problems/).waitFor();
  await page.getByRole('region', { name: 'Preview' }).scrollIntoViewIfNeeded();
  await visit.look('editor-images');
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  await page.getByRole('textbox', { name: 'Subject', exact: true }).fill('Image again');
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  await page.reload();
  await shown.waitFor();
  await page.getByRole('button', { name: 'Actions for With an image' }).click();
  await page.getByRole('menuitem', { name: 'Discard draft' }).click();
  await page.getByText('Draft discarded.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone.').waitFor();
  await shown.waitFor();
  const draft = await colleague.get(`${templates}/t-image/draft`);
  const saved = draft.body.content as { readonly images: readonly { readonly size: number }[] };
  assert.equal(saved.images[0]?.size, logo.length);
  await images.getByRole('button', { name: 'Remove shop-logo' }).click();
  await page.getByText(/cid:shop-logo, which is not an image/).waitFor();
  await page.getByLabel('Attach image').setInputFiles({
    name: 'large.png',
    mimeType: 'image/png',
    buffer: Buffer.concat([logo, Buffer.alloc(2 * 1_024 * 1_024)]),
  });
  await images.getByRole('alert').waitFor();
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  await visit.end();
});

test('templates: a language is added, edited, previewed, tested, compared and removed', async () => {
  const id = 't-languages';
  await colleague.put(`${templates}/${id}`, { name: 'Languages' });
  await publish(id, 'Hello');
  const visit = await signedIn({ wide: true });
  const { page } = visit;
  await visit.open(`${shop.id}/templates/${id}`);
  const language = page.getByRole('combobox', { name: 'Language', exact: true });
  await language.selectOption('Add a language…');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Language tag').fill('de_AT');
  await dialog.getByRole('button', { name: 'Add a language' }).click();
  await dialog.getByText('This isn’t a language tag').waitFor();
  await visit.look('language-problem');
  await dialog.getByLabel('Language tag').fill('de-at');
  await dialog.getByRole('button', { name: 'Add a language' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await language.inputValue(), 'de-AT');
  await page.getByRole('textbox', { name: 'Subject', exact: true }).fill('Servus');
  await page.getByRole('region', { name: 'Preview' }).getByText('Servus').waitFor();
  await visit.look('editor-language');
  await language.selectOption('');
  assert.equal(
    await page.getByRole('textbox', { name: 'Subject', exact: true }).inputValue(),
    'Hello',
  );
  await page.getByLabel('Language of the default').fill('en');
  await page.getByRole('region', { name: 'Preview' }).getByText('Hello').first().waitFor();
  await page.getByRole('button', { name: 'Publish' }).click();
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await page.waitForURL(/use$/);
  const published = (await colleague.get(`${templates}/${id}/versions/2`)).body;
  assert.deepEqual(published.locales, ['de-AT']);
  await page.getByRole('tab', { name: 'Versions' }).click();
  const compared = page.getByRole('region', { name: 'Compare' });
  await compared.getByLabel('Language').selectOption('de-AT');
  await compared.getByText('Servus').waitFor();
  await visit.look('versions-language');
  await compared.getByText('Source').click();
  await compared.getByText('--- variant de-AT').waitFor();
  await page.getByRole('tab', { name: 'Edit' }).click();
  await page.getByRole('button', { name: 'Send a test' }).click();
  await dialog.getByLabel('To').fill('reader@people.test');
  await dialog.getByLabel('Language').selectOption('de-AT');
  await visit.look('test-language');
  await dialog.getByRole('button', { name: 'Send a test' }).click();
  await dialog.getByText('Arrived in the inbox').waitFor();
  await visit.look('test-arrived');
  assert.match(page.url(), /templates\/t-languages$/, 'the editor stays open');
  await dialog.getByRole('link', { name: 'Open the message' }).click();
  await page.waitForURL(/messages\//);
  const facts = page.locator('section[aria-labelledby=facts]');
  await facts.getByText('Austrian German (de-AT)').waitFor();
  await visit.look('message-language');
  await visit.open(`${shop.id}/templates/${id}`);
  await language.selectOption('de-AT');
  await page.getByRole('button', { name: 'Remove Austrian German' }).click();
  await page.getByRole('textbox', { name: 'Subject', exact: true }).waitFor();
  assert.equal(
    await page.getByRole('textbox', { name: 'Subject', exact: true }).inputValue(),
    'Hello',
  );
  assert.deepEqual(await language.locator('option').allTextContents(), [
    'Default English (en)',
    'Add a language…',
  ]);
});

test('templates: the preview shows what dark mode makes of the colors, and the values of a past message', async () => {
  const id = 't-colors';
  const html = `<div style="background: #ffffff; color: #111111">Hello {{Name}} {{Code}}</div>
    <p style="background: #003300; color: #ffffff">Button</p>`;
  const fields = { Name: { sample: 'Sam' }, Code: { secret: true, sample: '000' } };
  await colleague.put(`${templates}/${id}`, { name: 'Colors' });
  await colleague.put(`${templates}/${id}/draft`, { ...draftOf('Colors'), html, fields });
  await colleague.post(`${templates}/${id}/publish`, {});
  const values = { Name: 'Ann', Code: '123' };
  const sent = await colleague.post(`${templates}/${id}/test-send`, {
    to: 'ann@people.test',
    values,
  });
  assert.equal(sent.status, 202, sent.text);
  await waitFor('the message to be listed', async () => {
    const { body } = await colleague.get(`/accounts/${shop.id}/messages?templateId=${id}`);
    return (body.items as unknown[]).length > 0;
  });
  const visit = await signedIn({ wide: true });
  const { page } = visit;
  await visit.open(`${shop.id}/templates/${id}`);
  const mail = page.getByRole('region', { name: 'Preview' }).frameLocator('iframe');
  await mail.getByText('Hello Sam 000').waitFor();
  const dark = page.getByRole('switch', { name: 'Dark' });
  const colors = page.getByRole('combobox', { name: 'Mail app' });
  const styleOf = (element: string, name: string) =>
    page
      .frames()
      .find((frame) => frame.url().endsWith('/console/frame'))
      ?.evaluate<string>(`getComputedStyle(document.querySelector('${element}')).${name}`);
  /** From 0 to 100, as browsers compute `lab()`. */
  const lightness = async (element: string, name: string) =>
    Number(/^lab\(([\d.]+)/.exec((await styleOf(element, name)) ?? '')?.[1]);
  await dark.press('Space');
  await colors.selectOption({
    label: 'Gmail on Android, Outlook apps: light colors inverted',
  });
  await mail.locator('div[style*="lab("]').waitFor();
  assert.ok((await lightness('div', 'backgroundColor')) < 20);
  assert.ok((await lightness('div', 'color')) > 80);
  assert.equal(await styleOf('p', 'backgroundColor'), 'rgb(0, 51, 0)');
  await page.getByText(/Outlook apps for phones darken light backgrounds/).waitFor();
  await visit.look('editor-dark-inverted');
  await colors.selectOption({
    label: 'Gmail on iPhone, Outlook for Windows: all colors inverted',
  });
  await mail.locator('p[style*="background-color: lab("]').waitFor();
  assert.ok((await lightness('p', 'backgroundColor')) > 50);
  await dark.press('Space');
  const past = page.getByRole('combobox', { name: 'Values' });
  await past.selectOption({ index: 1 });
  await mail.getByText('Hello Ann 000').waitFor();
  await visit.end();
});

test('templates: switching between MJML and HTML keeps both, and blocks and fields are inserted from menus', async () => {
  const id = 't-markup';
  await colleague.put(`${templates}/${id}`, { name: 'Markup' });
  await colleague.put(`${templates}/${id}/draft`, draftOf('Hello'));
  const visit = await signedIn({ wide: true });
  const { page } = visit;
  await visit.open(`${shop.id}/templates/${id}`);
  const source = (name: string) => page.getByRole('textbox', { name, exact: true });
  const mail = page.getByRole('region', { name: 'Preview' }).frameLocator('iframe');
  const insert = async (name: string) => {
    await page.getByRole('button', { name: 'Insert', exact: true }).click();
    await page.getByRole('menuitem', { name }).click();
  };
  await source('HTML').getByText('Hello').waitFor();
  await page.getByText('MJML', { exact: true }).click();
  await page.getByText('The HTML is kept in the draft. Messages use the MJML.').waitFor();
  for (const name of ['Heading', 'Table of items', 'Two columns', 'Button', 'Footer'])
    await insert(name);
  await page.getByText(/^No problems/).waitFor();
  await mail.getByText('Saucer').waitFor();
  await mail.getByText('Right').waitFor();
  await visit.look('editor-blocks');
  await page.getByRole('button', { name: 'Insert a field into Subject' }).click();
  await visit.look('editor-field-menu');
  await page.getByRole('menuitem', { name: 'New field' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Field name').fill('First}Name');
  await dialog.getByText('A field name can’t have braces.').waitFor();
  await dialog.getByLabel('Field name').fill('First Name');
  await dialog.getByRole('button', { name: 'Insert' }).click();
  assert.equal(
    await page.getByRole('textbox', { name: 'Subject', exact: true }).inputValue(),
    'Hello{{First Name}}',
  );
  await page.getByLabel('Sample for First Name').waitFor();
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  await page.reload();
  await page.getByText('HTML', { exact: true }).click();
  await source('HTML').getByText('Hello').waitFor();
  await mail.getByText('Hello').waitFor();
  await insert('Button');
  await mail.getByText('Button').waitFor();
  await page.getByText('MJML', { exact: true }).click();
  await mail.getByText('Saucer').waitFor();
  const save = page.getByRole('button', { name: 'Save draft' });
  await page.mouse.wheel(0, 2_000);
  const box = await save.boundingBox();
  assert.ok(box !== null && box.y > 0 && box.y < 200, 'the actions stay in view');
  await visit.end();
});

test('templates: the desktop of the preview is wider than a mail whether or not there is space, and its choice moves nothing else', async () => {
  const id = 't-desktop';
  await colleague.put(`${templates}/${id}`, { name: 'Desktop' });
  await colleague.put(`${templates}/${id}/draft`, draftOf('Hello'));
  const visit = await signedIn({ wide: true });
  const { page } = visit;
  await visit.open(`${shop.id}/templates/${id}`);
  const preview = page.getByRole('region', { name: 'Preview' });
  await preview.frameLocator('iframe').getByText('Hello').waitFor();
  const mode = preview.getByRole('radiogroup', { name: 'Preview' });
  const source = page.getByRole('radiogroup', { name: 'Content' });
  const widthOf = () => page.evaluate<number>("document.querySelector('iframe')?.clientWidth");
  await waitFor('the width of a desktop', async () => (await widthOf()) === 700);
  const top = (await source.boundingBox())?.y;
  await mode.getByText('Phone').click();
  await waitFor('the width of a phone', async () => (await widthOf()) === 375);
  assert.equal((await source.boundingBox())?.y, top);
  await mode.getByText('Desktop').click();
  await preview.getByText('Shown at 6').waitFor();
  await page.getByRole('tab', { name: 'Preview' }).click();
  await preview.getByText('Shown at').waitFor({ state: 'detached' });
  await page.setViewportSize({ width: 800, height: 800 });
  await waitFor('the width of a desktop', async () => (await widthOf()) === 700);
  await page.reload();
  await page.getByRole('tab', { name: 'Preview', selected: true }).waitFor();
  await waitFor('the width of a desktop', async () => (await widthOf()) === 700);
  await visit.end();
});

it('templates: clicking text of the preview selects it in the source, and the source can be searched', async (visit) => {
  const { page } = visit;
  const id = 't-find';
  await colleague.put(`${templates}/${id}`, { name: 'Find' });
  const lines = Array.from({ length: 300 }, (_, index) => `<p>Line ${index}</p>`);
  const html = `${lines.join('\n')}\n<p>Dear {{First Name}}, thank\nyou for the order.</p>`;
  await colleague.put(`${templates}/${id}/draft`, { ...draftOf('Hello'), html });
  await visit.open(`${shop.id}/templates/${id}`);
  await page.getByRole('tab', { name: 'Preview' }).click();
  await page.getByText('Click text to find it in the source.').waitFor();
  const mail = page.getByRole('region', { name: 'Preview' }).frameLocator('iframe');
  await mail.getByText('thank you for the order').click();
  const isSelected = (text: string) => async () =>
    (await page.evaluate('getSelection().toString()')) === text;
  await waitFor(
    'the text in the source',
    isSelected('Dear {{First Name}}, thank\nyou for the order.'),
  );
  await page.keyboard.press('ControlOrMeta+f');
  await page.getByRole('textbox', { name: 'Find' }).pressSequentially('Line 17<');
  await page.keyboard.press('Enter');
  await visit.look('editor-search');
  await page.keyboard.press('Escape');
  await waitFor('the found text', isSelected('Line 17<'));
});

test('templates: an image is hosted, shown, attached instead, found again, and removed', async () => {
  const id = 't-hosted';
  const mjml =
    '<mjml><mj-body><mj-section><mj-column><mj-text>Hi</mj-text></mj-column></mj-section></mj-body></mjml>';
  await colleague.put(`${templates}/${id}`, { name: 'Hosted' });
  const { html: _, ...rest } = draftOf('Hosted');
  await colleague.put(`${templates}/${id}/draft`, { ...rest, mjml });
  const visit = await signedIn({ wide: true });
  const { page } = visit;
  await visit.open(`${shop.id}/templates/${id}`);
  const images = page.getByRole('region', { name: 'Images' });
  const mail = page.getByRole('region', { name: 'Preview' }).frameLocator('iframe');
  /** The widths of the images in the preview, once they are loaded; the frame's policy could block them. */
  const loadedWidths = () =>
    page
      .frames()
      .find((frame) => frame.url().endsWith('/console/frame'))
      ?.evaluate<number[]>(
        'Promise.all([...document.images].map((one) => one.decode().then(() => one.naturalWidth)))',
      );
  await mail.getByText('Hi').waitFor();
  await images
    .getByLabel('Host image')
    .setInputFiles({ name: 'Shop logo.png', mimeType: 'image/png', buffer: logo });
  await mail.locator(`img[src^="${service.url}/images/${shop.id}/"]`).waitFor();
  assert.deepEqual(await loadedWidths(), [8]);
  await images.getByText('Hosted ·').waitFor();
  await visit.look('editor-hosted');
  await images.getByRole('button', { name: 'Attach instead' }).click();
  await mail.locator('img[src^="data:image/png"]').waitFor();
  await images.getByText('cid:shop-logo').waitFor();
  await images.getByRole('button', { name: 'Host instead' }).click();
  await mail.locator(`img[src^="${service.url}/images/"]`).waitFor();
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  await images.getByRole('button', { name: 'Add image' }).click();
  await page.getByRole('menuitem', { name: 'Hosted images' }).click();
  const dialog = page.getByRole('dialog', { name: 'Hosted images' });
  await dialog.getByText('Set PUBLIC_URL first').waitFor();
  await visit.look('editor-image-library');
  await dialog.getByRole('button', { name: 'Remove Shop logo.png' }).click();
  const confirm = page.getByRole('dialog', { name: 'Remove Shop logo.png' });
  await confirm.getByRole('button', { name: 'Remove', exact: true }).click();
  await dialog.getByText('Images you host appear here.').waitFor();
  await visit.end();
});

it('versions: a version is compared with the published one however many are between them', async (visit) => {
  const { page } = visit;
  await colleague.put(`${templates}/t-many`, { name: 'Many' });
  for (const subject of ['One', 'Two', 'Three']) await publish('t-many', subject);
  const back = { version: 1, force: false };
  assert.equal((await colleague.post(`${templates}/t-many/roll-back`, back)).status, 200);
  await page.route(/\/t-many\/versions(?:\?|$)/, (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set('limit', '2');
    return route.continue({ url: url.href });
  });
  await visit.open(`${shop.id}/templates/t-many/versions`);
  await page.getByRole('button', { name: 'Actions for Version 2' }).click();
  await page.getByRole('menuitem', { name: 'Compare with current' }).click();
  const compared = page.getByRole('region', { name: 'Compare', exact: true });
  await compared.getByRole('region', { name: 'Version 1' }).waitFor();
  const choice = (name: string) => compared.getByRole('combobox', { name, exact: true });
  assert.deepEqual(
    [await choice('Compare').inputValue(), await choice('with').inputValue()],
    ['2', '1'],
  );
});

it('templates: images with names in other scripts don’t replace each other', async (visit) => {
  const { page } = visit;
  await colleague.put(`${templates}/t-scripts`, { name: 'Scripts' });
  await colleague.put(`${templates}/t-scripts/draft`, draftOf('Scripts'));
  await visit.open(`${shop.id}/templates/t-scripts`);
  const images = page.getByRole('region', { name: 'Images' });
  for (const [name, contentId] of [
    ['логотип.png', 'cid:image'],
    ['产品.png', 'cid:image-2'],
  ] as const) {
    await page
      .getByLabel('Attach image')
      .setInputFiles({ name, mimeType: 'image/png', buffer: logo });
    await images.getByText(contentId, { exact: true }).waitFor();
  }
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  const { body } = await colleague.get(`${templates}/t-scripts/draft`);
  const saved = (body.content as { images: readonly { filename: string }[] }).images;
  assert.deepEqual(
    saved.map(({ filename }) => filename),
    ['логотип.png', '产品.png'],
  );
});
