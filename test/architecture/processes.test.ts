import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { importingFiles } from '../../scripts/importing-files.ts';

/** What starts a process: Node's module, and the helpers of tests that start the service or a database. */
const starters = /from 'node:child_process'|StdioClientTransport/;
const startingHelpers = [
  'test/support/run-signalpost.ts',
  'test/support/embedded-scene.ts',
  'test/support/client-app.ts',
  'test/support/run-snippet.ts',
];

/** Files of `npm test` that start a program, and which. */
const allowed: Readonly<Record<string, string>> = {
  'test/smoke.test.ts': 'the service, once',
  'test/operating/command/operator-commands.test.ts': 'bash, for its completion',
  'test/base/log.test.ts': 'a process that only logs',
  'test/operating/manifest/parse-manifest.test.ts': 'mkfifo',
  'test/content/template-types/write-types.test.ts': 'the TypeScript compiler',
};

test('tests that start a process are in test-system', async () => {
  const files = await Array.fromAsync(glob('test/**/*.test.ts'));
  const starting = new Set<string>();
  for (const file of files) if (starters.test(await readFile(file, 'utf8'))) starting.add(file);
  for (const helper of startingHelpers)
    for (const file of await importingFiles(files, helper)) starting.add(file);
  starting.delete('test/architecture/processes.test.ts');
  assert.deepEqual([...starting].sort(), Object.keys(allowed).sort());
});

/** What the services that other files of the process share would use, too: they would wait for hours, or be counted. */
const changesOfProcess =
  /mock\.timers|mock\.method\((?:performance|[\w.]+\.prototype)|\bDate\.now = /;

test('tests that change clock, timers or classes of their process have it alone', async () => {
  const runner = await readFile('scripts/test.ts', 'utf8');
  const changing: string[] = [];
  for (const file of await Array.fromAsync(glob('{test,test-system}/**/*.test.ts')))
    if (changesOfProcess.test(await readFile(file, 'utf8'))) changing.push(file);
  const shared = changing.filter(
    (file) => !runner.includes(`'${file.slice(0, -'.test.ts'.length)}'`),
  );
  assert.deepEqual(shared, []);
});
