import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { promisify } from 'node:util';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService } from '../../test/support/test-service.ts';
import { openChromium } from '../../test-system/support/open-chromium.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const site = join(root, 'docs-site/dist');

// VitePress fails on a link to a page that isn't there.
before(() => run('npm', ['run', 'docs:site'], { cwd: root, maxBuffer: 50_000_000 }), {
  timeout: 900_000,
});

test('agents get a list of all pages of the index, and all pages in one file', async () => {
  const index = await readFile(join(root, 'docs/README.md'), 'utf8');
  const list = await readFile(join(site, 'llms.txt'), 'utf8');
  const all = await readFile(join(site, 'all.md'), 'utf8');
  const pages = [...index.matchAll(/\]\(([\w./-]+)\.md\)/g)].map(([, path = '']) => path);
  assert.ok(pages.length > 50);
  for (const path of pages) {
    const file = join(root, 'docs', `${path}.md`);
    const [title = ''] = (await readFile(file, 'utf8')).split('\n');
    assert.ok(list.includes(`(/docs/guide/${path.replace('../', '')})`), path);
    assert.ok(all.includes(`\n${title}\n`), title);
  }
});

test('in a browser, the service’s own documentation is searched and read under its policy', async () => {
  const { url } = await createTestDatabase();
  const service = await startTestService({ databaseUrl: url });
  const page = await (await openChromium()).newPage();
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(service.url) && !request.url().startsWith('data:'))
      errors.push(`a request to ${request.url()}`);
  });
  const list = await (await fetch(`${service.url}/docs/guide/llms.txt`)).text();
  for (const [, path = ''] of list.matchAll(/\]\((\S+)\)/g))
    assert.equal((await fetch(`${service.url}${path}`)).status, 200, path);
  await page.goto(`${service.url}/docs/guide`);
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('searchbox').fill('sealed outbox lag');
  await page.getByRole('option').first().click();
  await page.waitForURL((address) => address.pathname !== '/docs/guide');
  assert.match(await page.locator('main').innerText(), /outbox/i);
  await page.goto(`${service.url}/docs/guide/reference/contract`);
  assert.match(await page.title(), /API contract/);
  const folder = process.env.SCREENSHOTS;
  if (folder !== undefined) await page.screenshot({ path: join(folder, 'guide.png') });
  assert.deepEqual(errors, []);
});
