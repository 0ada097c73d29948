import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const folder = await mkdtemp(join(tmpdir(), 'reproducible-'));
after(() => rm(folder, { recursive: true, force: true }));

/** Copies the files of the repository into a new folder and packs them there, as a release is. @returns the file's SHA-256 */
async function packIn(name: string): Promise<string> {
  const copy = join(folder, name);
  const { stdout } = await run('git', ['ls-files'], { cwd: root, maxBuffer: 50_000_000 });
  for (const path of stdout.trim().split('\n')) {
    await mkdir(join(copy, dirname(path)), { recursive: true });
    await cp(join(root, path), join(copy, path));
  }
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  const packed = await run('npm', ['pack'], { cwd: copy, maxBuffer: 50_000_000 });
  const file = await readFile(join(copy, packed.stdout.trim().split('\n').at(-1) ?? ''));
  return createHash('sha256').update(file).digest('hex');
}

test('the package of the same files is the same byte for byte, wherever and whenever it is built', async () => {
  assert.equal(await packIn('here'), await packIn('there/deeper'));
});
