import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const declaration =
  /^export (?:async )?(?:abstract )?(?:function|const|let|class|interface|type) (\w+)/gm;

test('a name is exported by one file only, so that a search finds its meaning', async () => {
  const files = new Map<string, Set<string>>();
  for (const folder of ['src', 'console/src', 'bench', 'scripts', 'test', 'test-system']) {
    for await (const file of glob(`${folder}/**/*.{ts,tsx}`, { cwd: root })) {
      // API types are named after their schemas.
      if (file.includes('node_modules') || file.endsWith('management.generated.ts')) continue;
      for (const [, name = ''] of (await readFile(join(root, file), 'utf8')).matchAll(declaration))
        files.set(name, (files.get(name) ?? new Set()).add(file));
    }
  }
  const repeated = [...files].filter(([, places]) => places.size > 1);
  assert.deepEqual(Object.fromEntries(repeated.map(([name, places]) => [name, [...places]])), {});
});
