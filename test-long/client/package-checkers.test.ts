import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { createClientApp } from '../../test/support/client-app.ts';
import { installTools } from '../support/tools.ts';

const run = promisify(execFile);
const folderOf = await installTools();
const { packed } = await createClientApp();

/** @throws with what the checker prints, if it finds anything */
async function check(checker: string, ...args: string[]): Promise<string> {
  return await run(process.execPath, [folderOf(checker), ...args]).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) =>
      assert.fail(stdout + stderr),
  );
}

test('arethetypeswrong finds nothing in the packed file under any module resolution, node10 included', async () => {
  await check('@arethetypeswrong/cli/dist/index.js', packed);
});

test('publint finds nothing in the packed file', async () => {
  assert.match(await check('publint/src/cli.js', packed, '--strict'), /All good!/);
});
