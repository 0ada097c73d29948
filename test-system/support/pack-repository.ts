import { execFile } from 'node:child_process';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/**
 * Packs a copy of this checkout with its built console, as `npm pack` does, so that tests can pack at the same time.
 * @param folder an empty folder, or one to make; the copy stays in it
 * @returns the package, and the paths in it without those of its dependencies
 */
export async function packRepository(
  folder: string,
): Promise<{ readonly file: string; readonly paths: readonly string[] }> {
  const options = { cwd: folder, maxBuffer: 50_000_000 };
  const { stdout: tracked } = await run('git', ['ls-files'], { ...options, cwd: root });
  for (const path of [...tracked.trim().split('\n'), 'console/dist']) {
    await mkdir(join(folder, dirname(path)), { recursive: true });
    await cp(join(root, path), join(folder, path), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await run(process.execPath, [join(folder, 'scripts/build-package.mjs')]);
  // Without scripts: `prepare` would build the console again.
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json'], options);
  const [{ filename, files }] = JSON.parse(stdout) as [
    { filename: string; files: { path: string }[] },
  ];
  const file = join(folder, filename);
  await run(process.execPath, [join(folder, 'scripts/bundle-packages.mjs'), file], options);
  return { file, paths: files.map(({ path }) => path) };
}
