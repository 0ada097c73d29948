import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');
const compiler = join(root, 'node_modules/typescript/bin/tsc');
const run = promisify(execFile);

/** An app outside of the repository that has installed the packed client. */
interface ClientApp {
  /** Its folder. */
  readonly app: string;
  readonly run: typeof run;
  /** Compiles a file strictly. @returns the compiler's errors */
  compile(file: string, text: string, ...options: string[]): Promise<string>;
}

export async function installClient(): Promise<ClientApp> {
  const app = await mkdtemp(join(tmpdir(), 'client-package-'));
  after(() => rm(app, { recursive: true }));
  await run('npm', ['pack', '--pack-destination', app], { cwd: join(root, 'packages/client') });
  const [packed] = await readdir(app);
  assert.ok(packed);
  const installed = join(app, 'node_modules/signalpost-client');
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', join(app, packed), '-C', installed, '--strip-components=1']);
  await mkdir(join(app, 'node_modules/@types'));
  await symlink(join(root, 'node_modules/@types/node'), join(app, 'node_modules/@types/node'));
  await writeFile(join(app, 'package.json'), '{ "type": "module" }');
  return {
    app,
    run,
    async compile(file, text, ...options) {
      await writeFile(join(app, file), text);
      const strict = ['--strict', '--noEmit', '--exactOptionalPropertyTypes', '--target', 'es2022'];
      return await run(process.execPath, [compiler, ...strict, ...options, file], {
        cwd: app,
      }).then(
        () => '',
        (error: { stdout: string }) => error.stdout,
      );
    },
  };
}
