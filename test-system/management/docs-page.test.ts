import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService } from '../../test/support/test-service.ts';
import {
  findBarriers,
  newVisitor,
  openChromium,
  takeScreenshot,
} from '../support/open-chromium.ts';

const { url: databaseUrl } = await createTestDatabase();
const service = await startTestService({ databaseUrl, worker: false });
const browser = await openChromium();

/** Known problems in the viewer's own markup, which can't be configured: unnamed copy buttons, examples without focus. */
const viewerRules: ReadonlySet<string> = new Set([
  'button-name',
  'label-content-name-mismatch',
  'landmark-unique',
  'scrollable-region-focusable',
]);

test('the documentation shows the contract and the management API under its strict policy, without requests or links to other hosts', async () => {
  const visitor = await newVisitor(browser);
  const page = await visitor.newPage();
  const requestedUrls: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => requestedUrls.push(request.url()));
  page.on('pageerror', (error) => complaints.push(error.message));
  // A blocked load also logs a console error.
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  const response = await page.goto(`${service.url}/docs`);
  assert.match(String(response?.headers()['content-security-policy']), /default-src 'none'/);
  await page.getByRole('heading', { name: 'Signalpost', level: 1 }).waitFor();
  // The first group is open.
  for (const [group, operation, path] of [
    [undefined, 'Send one email from a stored template', '/ete/v1/email/'],
    ['Templates', 'Publish the draft as the next version', '/manage/v1/accounts/'],
  ] as const) {
    if (group !== undefined)
      await page.getByRole('button', { name: `Open Group - ${group}` }).click();
    await page.getByRole('link', { name: operation }).click();
    const section = page.getByRole('region', { name: operation });
    await section.waitFor();
    await section.getByText(path).first().waitFor();
  }
  await takeScreenshot(page, 'docs');
  const barriers = (await findBarriers(page)).map((one) => one.split(':')[0] ?? '');
  assert.deepEqual(
    barriers.filter((rule) => !viewerRules.has(rule)),
    [],
  );
  const links = await page.evaluate<string[]>(
    `[...document.querySelectorAll('a[href]')].filter((a) => a.checkVisibility()).map((a) => a.href)`,
  );
  assert.deepEqual(
    [...requestedUrls, ...links].filter(
      (url) => !/^(?:data|blob):/.test(url) && !url.startsWith(service.url),
    ),
    [],
  );
  const outward = page.getByText(/Ask AI|Generate MCP|Powered by/).filter({ visible: true });
  assert.equal(await outward.count(), 0);
  assert.deepEqual(complaints, []);
  await visitor.close();
});

test('an operation is found by its name with the keyboard alone', async () => {
  const visitor = await newVisitor(browser);
  const page = await visitor.newPage();
  await page.goto(`${service.url}/docs`);
  await page.getByRole('heading', { name: 'Signalpost', level: 1 }).waitFor();
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('publish the draft');
  await page
    .getByRole('option', { name: /Publish the draft as the next version/ })
    .first()
    .waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Publish the draft as the next version' }).waitFor();
  await visitor.close();
});

test('each example of the introduction can be copied', async () => {
  const visitor = await newVisitor(browser);
  await visitor.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await visitor.newPage();
  await page.goto(`${service.url}/docs`);
  const copy = page.getByRole('button', { name: 'Copy', exact: true });
  await copy.nth(1).waitFor();
  assert.equal(await copy.count(), await page.locator('.introduction-description pre').count());
  await copy.first().click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  assert.match(copied, /^curl "\$SIGNALPOST_URL\/ete\/v1\/email\/1001\/welcome"[\s\S]*\}'\n?$/);
  await visitor.close();
});
