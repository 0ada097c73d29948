import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { dirname, join, normalize, relative } from 'node:path';
import { test } from 'node:test';

/** The modules in dependency order: each imports only itself and earlier modules. */
const modules = [
  'template-types',
  'brand',
  'foundation',
  'audit',
  'embedded-database',
  'backup',
  'http',
  'console-server',
  'outbox',
  'account',
  'access',
  'sender',
  'template',
  'message',
  'hosted-image',
  'session',
  'list',
  'queue',
  'submission',
  'rendering',
  'system-mail',
  'signing',
  'delivery',
  'smtp-submission',
  'feedback',
  'inbox',
  'report',
  'webhook',
  'move',
  'change',
  'manifest',
  'demo-data',
  'management',
  'config',
  'app.ts',
  'command',
  'main.ts',
];

const source = join(import.meta.dirname, '../../src');
const importPattern = /(?:import|export)\s(?:[^'";]*?from\s)?'(\.[^']+)'|import\('(\.[^']+)'\)/g;

async function readImports(): Promise<Map<string, string[]>> {
  const imports = new Map<string, string[]>();
  for await (const file of glob('**/*.ts', { cwd: source })) {
    const text = await readFile(join(source, file), 'utf8');
    const found = [...text.matchAll(importPattern)].map((match) =>
      normalize(join(dirname(file), match[1] ?? match[2] ?? '')),
    );
    imports.set(file, found);
  }
  return imports;
}

function moduleOf(file: string): string {
  return file.split('/')[0] ?? file;
}

test('every file of src is in a known module', async () => {
  const strangers = [...(await readImports()).keys()].filter(
    (file) => !modules.includes(moduleOf(file)),
  );
  assert.deepEqual(strangers, []);
});

test('files import only from their own module or an earlier one', async () => {
  const wrong: string[] = [];
  for (const [file, targets] of await readImports()) {
    for (const target of targets) {
      if (target.startsWith('..')) continue;
      if (modules.indexOf(moduleOf(target)) > modules.indexOf(moduleOf(file)))
        wrong.push(`${file} -> ${target}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('imports have no cycles', async () => {
  const imports = await readImports();
  const done = new Set<string>();
  const path: string[] = [];
  const cycles: string[] = [];
  const visit = (file: string): void => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
    if (done.has(file) || path.includes(file)) return;
    path.push(file);
    for (const target of imports.get(file) ?? []) visit(target);
    path.pop();
    done.add(file);
  };
  for (const file of imports.keys()) visit(file);
  assert.deepEqual(cycles, []);
});

test('SQL occurs only in stores and their fragments, in foundation, in embedded-database and in migrations', async () => {
  const wrong: string[] = [];
  for (const [file] of await readImports()) {
    if (/-(store|sql)\.ts$/.test(file) || /^(foundation|embedded-database)\//.test(file)) continue;
    const text = await readFile(join(source, file), 'utf8');
    if (/\bsql`|\.query\(|from 'pg'|from 'kysely'/.test(text)) wrong.push(relative('.', file));
  }
  assert.deepEqual(wrong, []);
});

test('packages import nothing outside their folder', async () => {
  const root = join(source, '..');
  const wrong: string[] = [];
  for await (const file of glob('packages/*/src/**/*.ts', { cwd: root })) {
    const own = file.split('/').slice(0, 2).join('/');
    for (const match of (await readFile(join(root, file), 'utf8')).matchAll(importPattern)) {
      const target = normalize(join(dirname(file), match[1] ?? match[2] ?? ''));
      if (!target.startsWith(`${own}/`)) wrong.push(`${file} -> ${target}`);
    }
  }
  assert.deepEqual(wrong, []);
});
