import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { asvsRequirements } from '../../scripts/asvs-requirements.ts';

const root = join(import.meta.dirname, '../..');

test('every requirement of ASVS chapters 2 and 3 has a test that exists, or a reason', async () => {
  const titles: string[] = [];
  for await (const file of glob('{test,test-system}/**/*.test.ts', { cwd: root })) {
    const text = await readFile(join(root, file), 'utf8');
    for (const [, title = ''] of text.matchAll(/\btest\(\s*(?:'([^'\n]+)|`([^`\n]+)|"([^"\n]+))/g))
      titles.push(title);
    for (const [, , title = ''] of text.matchAll(/\btest\(\s*(['"`])([^\n]+?)\1/g))
      titles.push(title);
  }
  for (const { id, test: title, reason, inapplicable } of asvsRequirements) {
    assert.equal([title, reason, inapplicable].filter(Boolean).length, 1, id);
    if (title !== undefined)
      assert.ok(
        titles.some((found) => found.includes(title)),
        `${id}: no test has “${title}” in its title`,
      );
  }
  assert.equal(new Set(asvsRequirements.map(({ id }) => id)).size, asvsRequirements.length);
  const count = (chapter: string) =>
    asvsRequirements.filter(({ id }) => id.startsWith(`${chapter}.`)).length;
  assert.deepEqual([count('2'), count('3')], [57, 20]);
});
