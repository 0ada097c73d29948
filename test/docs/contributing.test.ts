import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');

test('every file and folder that CONTRIBUTING names exists', () => {
  const paths = [...text.matchAll(/`((?:[\w.-]+\/)+[\w.-]*)`/g)].map(([, path = '']) => path);
  const named = paths.filter((path) => !/NNNN|MMMM/.test(path));
  assert.ok(named.includes('src/accounts/account/account-settings.ts'));
  assert.deepEqual(
    named.filter((path) => !existsSync(join(root, path))),
    [],
  );
});
