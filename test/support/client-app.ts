import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync } from 'node:fs';
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
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

/**
 * Packs a copy, because test files that run at the same time would write to one `dist`. The packed file is kept for as long as
 * no source changes.
 * @returns the packed file
 */
async function packClient(folder: string): Promise<string> {
  const kept = join(root, 'node_modules/.cache/packed-client', `${await hashSources()}.tgz`);
  const packed = join(folder, 'signalpost-client.tgz');
  await mkdir(folder, { recursive: true });
  if (existsSync(kept)) {
    await cp(kept, packed);
    return packed;
  }
  const source = join(root, 'packages/client');
  const copy = join(folder, 'packages/client');
  await cp(source, copy, { recursive: true, filter: (path) => path !== join(source, 'dist') });
  const types = 'src/content/template-types';
  await cp(join(root, types), join(folder, types), { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await cp(join(root, 'tsconfig.json'), join(folder, 'tsconfig.json'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await run('npm', ['pack', '--pack-destination', folder], { cwd: copy });
  const name = (await readdir(folder)).find((file) => file.endsWith('.tgz'));
  if (name === undefined) throw new Error('npm pack wrote no file');
  await rename(join(folder, name), packed);
  await mkdir(dirname(kept), { recursive: true });
  const unfinished = `${kept}.${process.pid}`;
  await cp(packed, unfinished);
  await rename(unfinished, kept);
  return packed;
}

/** Of everything that the packed file depends on. */
async function hashSources(): Promise<string> {
  const hash = createHash('sha256').update(process.version);
  const folders = [
    'packages/client/**/*',
    'src/content/template-types/*',
    'tsconfig.json',
    'package-lock.json',
  ];
  const exclude = (name: string): boolean => name === 'dist' || name === 'node_modules';
  for (const file of globSync(folders, { cwd: root, exclude }).sort()) {
    const path = join(root, file);
    if ((await stat(path)).isFile()) hash.update(`${file}\0`).update(await readFile(path));
  }
  return hash.digest('hex');
}
