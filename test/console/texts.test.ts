import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { auditTexts } from '../../console/src/texts/en/audit.en.ts';
import { editorTexts } from '../../console/src/texts/en/editor.en.ts';
import { en } from '../../console/src/texts/en.ts';

const folder = join(import.meta.dirname, '../../console/src/texts/en');

test('every text of a file is in the catalog, and no two files use the same name', async () => {
  const names: string[] = [];
  for (const file of await readdir(folder)) {
    const texts: Record<string, Record<string, string>> = await import(join(folder, file));
    for (const part of Object.values(texts)) names.push(...Object.keys(part));
  }
  const catalog = { ...en, ...auditTexts, ...editorTexts };
  assert.deepEqual(names.toSorted(), Object.keys(catalog).toSorted());
});
