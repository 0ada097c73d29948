import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { brandFiles } from '../../src/host/brand/brand-files.ts';
import { consoleFolder } from '../../src/host/console-server/console-files.ts';

const assets = join(consoleFolder, 'assets');

/** Adds a file of the build and the scripts that it imports, with their compressed sizes. */
async function addFile(name: string, sizes: Map<string, number>): Promise<void> {
  if (sizes.has(name)) return;
  sizes.set(name, (await stat(join(assets, `${name}.br`))).size);
  if (!name.endsWith('.js')) return;
  const script = await readFile(join(assets, name), 'utf8');
  for (const [, imported = ''] of script.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g))
    await addFile(imported, sizes);
}

test('the first view of the console is under 200 kB compressed, with its font', async () => {
  assert.ok(existsSync(assets), 'build the console first: npm run console');
  const html = await readFile(join(consoleFolder, 'index.html'), 'utf8');
  const sizes = new Map([['index.html', html.length]]);
  for (const [, name = ''] of html.matchAll(/assets\/([^"]+\.(?:js|css))"/g))
    await addFile(name, sizes);
  const overview = (await readdir(assets)).find((name) => /^overview-page-.*\.js$/.test(name));
  assert.ok(overview !== undefined);
  await addFile(overview, sizes);
  for (const { url, content } of brandFiles)
    if (!/ext\.woff2|pages\.css/.test(url)) sizes.set(url, content.length);
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  assert.ok(sizes.size > 8 && total < 200_000, JSON.stringify([total, ...sizes]));
});
