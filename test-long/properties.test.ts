import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { glob, readFile } from 'node:fs/promises';
import { test } from 'node:test';

test('every property of `npm test` holds in a thousand runs, or as many as a minute allows', async () => {
  const files: string[] = [];
  for await (const file of glob('test/**/*.test.ts'))
    if ((await readFile(file, 'utf8')).includes("'fast-check'")) files.push(file);
  assert.ok(files.length > 40, `only ${files.length} files`);
  const run = spawn(process.execPath, ['scripts/test.ts', 'test', ...files.sort()], {
    stdio: 'inherit',
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, PROPERTY_RUNS: '1000' },
  });
  assert.deepEqual(await once(run, 'exit'), [0, null]);
});
