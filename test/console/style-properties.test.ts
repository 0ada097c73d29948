import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { brandStyles } from '../../src/host/brand/brand-files.ts';

test('every custom property that the console’s styles use is defined', async () => {
  const files = await Array.fromAsync(glob('console/src/**/*.{css,ts,tsx}'));
  const own = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  const text = [...own, brandStyles({ latin: '', latinExtended: '' })].join('\n');
  const namesOf = (pattern: RegExp) =>
    new Set([...text.matchAll(pattern)].map(([, name = '']) => name));
  const used = namesOf(/var\((--(?:console|brand)-[a-z-]+)/g);
  const defined = namesOf(/(--(?:console|brand)-[a-z-]+)['"]?\s*:/g);
  assert.ok(used.size > 10);
  assert.deepEqual([...used.difference(defined)], []);
});
