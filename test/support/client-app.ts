import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** An app outside of the repository that has installed the packed client. */
export interface ClientApp {
  readonly folder: string;
  /** The packed file. */
  readonly packed: string;
  /** Compiles under `strict`. @returns what the compiler complains about */
  compile(files: readonly string[], ...options: string[]): Promise<string>;
}

/** @param links other packages of the app, by name, with their folders */
export async function createClientApp(
  links: Readonly<Record<string, string>> = {},
): Promise<ClientApp> {
  const folder = await mkdtemp(join(tmpdir(), 'client-app-'));
  after(() => rm(folder, { recursive: true }));
  const packed = await packClient(join(folder, 'pack'));
  const modules = join(folder, 'node_modules');
  const installed = join(modules, 'signalpost-client');
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', packed, '-C', installed, '--strip-components=1']);
  const types = { '@types/node': join(root, 'node_modules/@types/node') };
  for (const [name, target] of Object.entries({ ...types, ...links })) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(target, join(modules, name));
  }
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  const compile = async (files: readonly string[], ...options: string[]): Promise<string> => {
    const strict = ['--strict', '--noEmit', '--exactOptionalPropertyTypes', '--target', 'es2022'];
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    return await run(process.execPath, [compiler, ...strict, ...options, ...files], {
      cwd: folder,
    }).then(
      () => '',
      ({ stdout }: { readonly stdout: string }) => stdout,
    );
  };
  return { folder, packed, compile };
}

/** Packs a copy, because test files that run at the same time would write to one `dist`. @returns the packed file */
async function packClient(folder: string): Promise<string> {
  const source = join(root, 'packages/client');
  const copy = join(folder, 'packages/client');
  await cp(source, copy, { recursive: true, filter: (path) => path !== join(source, 'dist') });
  const types = 'src/template-types';
  await cp(join(root, types), join(folder, types), { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await cp(join(root, 'tsconfig.json'), join(folder, 'tsconfig.json'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await run('npm', ['pack', '--pack-destination', folder], { cwd: copy });
  const name = (await readdir(folder)).find((file) => file.endsWith('.tgz'));
  if (name === undefined) throw new Error('npm pack wrote no file');
  return join(folder, name);
}
