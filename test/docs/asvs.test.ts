import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

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
  const page = await readFile(join(root, 'docs/reference/standards.md'), 'utf8');
  const rows = [...page.matchAll(/^\| ([23]\.\d+\.\d+) \| [^|]+ \| (.+) \|$/gm)];
  for (const [, id = '', answer = ''] of rows) {
    const [, title] = /^yes: “(.+)”$/.exec(answer) ?? [];
    if (title === undefined) assert.match(answer, /^(?:no|doesn’t apply): \S/, id);
    else
      assert.ok(
        titles.some((found) => found.includes(title)),
        `${id}: no test has “${title}” in its title`,
      );
  }
  const ids = new Set(rows.map(([, id = '']) => id));
  assert.equal(ids.size, rows.length);
  const count = (chapter: string) => [...ids].filter((id) => id.startsWith(chapter)).length;
  assert.deepEqual([count('2.'), count('3.')], [57, 20]);
});
