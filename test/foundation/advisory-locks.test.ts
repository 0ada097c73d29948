import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { advisoryLocks, namedAdvisoryLocks } from '../../src/foundation/database/advisory-locks.ts';

const source = join(import.meta.dirname, '../../src');

test('no two advisory locks have the same key', () => {
  for (const keys of [Object.values(advisoryLocks), Object.values(namedAdvisoryLocks)])
    assert.equal(new Set<unknown>(keys).size, keys.length);
});

test('every advisory lock in use has its key in the registry', async () => {
  const without: string[] = [];
  for await (const file of glob('**/*.ts', { cwd: source })) {
    const text = await readFile(join(source, file), 'utf8');
    if (/\bpg_(try_)?advisory_/.test(text) && !text.includes("/advisory-locks.ts'"))
      without.push(file);
  }
  assert.deepEqual(without, []);
});
