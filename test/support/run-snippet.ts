import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { snippets } from '../../console/src/template/snippets.ts';

type Snippets = ReturnType<typeof snippets>;

/**
 * Does what the console says: saves the program, and runs its command in a shell.
 * @returns what it prints
 */
export async function runSnippet(
  all: Snippets,
  id: Snippets[number]['id'],
  folder: string,
): Promise<string> {
  const snippet = all.find((one) => one.id === id);
  assert.ok(snippet);
  const { file, code, run = code } = snippet;
  if (file !== undefined) await writeFile(join(folder, file), code);
  const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', run], {
    cwd: folder,
    env: {
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      HOME: folder,
      GOFLAGS: '-mod=mod',
    },
  });
  return stdout;
}
