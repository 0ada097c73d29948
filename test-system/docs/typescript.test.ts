import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseEnv, promisify } from 'node:util';
import { createClientApp } from '../../test/support/client-app.ts';
import { copyDataFolder } from '../../test/support/copy-data-folder.ts';
import { codeBlocks } from '../../test/support/markdown-pages.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';

/**
 * Every `ts` block of the page is a file of one app that has installed the packed client. All compile together, and each runs
 * on a newly started service. Those that need another package are tested in test-system/client.
 */
const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const blocks = codeBlocks(root, 'docs/typescript.md')
  .filter(({ language, above }) => language === 'ts' && !above.startsWith('<!-- run in test-sys'))
  .map(({ line, text }) => ({ line, text, name: /^\/\/ (\S+\.ts)\n/.exec(text)?.[1] ?? '' }));

const app = await createClientApp();
for (const { name, text } of blocks) await writeFile(join(app.folder, name), text);
const environment = await startService();

/** @returns the environment of a reader who has started the service and created a key */
async function startService(): Promise<NodeJS.Dict<string>> {
  const data = copyDataFolder('started');
  const settings = { DATA_DIR: data, PORT: '0', LOG_LEVEL: 'warn' };
  const [, url = ''] = await runSignalpost(['start'], settings).printed(/Service +(http:\S+)/);
  return {
    ...parseEnv(await readFile(join(data, 'demo.env'), 'utf8')),
    SIGNALPOST_URL: url,
    SIGNALPOST_API_KEY: await createKey(settings),
  };
}

/** Runs the command of the page that creates a key. */
async function createKey(settings: Readonly<Record<string, string>>): Promise<string> {
  const command = codeBlocks(root, 'docs/typescript.md').find(({ language }) => language === 'sh');
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...settings };
  const script = `${command?.text}\necho "$SIGNALPOST_API_KEY"`;
  const { stdout } = await run('bash', ['-c', script], { cwd: root, env });
  return /sp_\S+/.exec(stdout)?.[0] ?? '';
}

test('every example is a file that compiles with the page’s settings and types', async () => {
  const names = blocks.map(({ name }) => name);
  assert.deepEqual(names, [...new Set(names)]);
  assert.ok(!names.includes(''), 'the first line of a ts block is a comment with its file name');
  const bin = join(app.folder, 'node_modules/signalpost-client/dist/types/main.js');
  const types = 'signalpost-templates.d.ts';
  await run(process.execPath, [bin, 'types', '--out', types], {
    cwd: app.folder,
    env: environment,
  });
  const settings = codeBlocks(root, 'docs/typescript.md').find(
    ({ language }) => language === 'json',
  );
  await writeFile(join(app.folder, 'tsconfig.json'), settings?.text ?? '');
  const project = join(app.folder, 'tsconfig.page.json');
  const files = [...names, types];
  await writeFile(project, JSON.stringify({ extends: './tsconfig.json', files }));
  // Libraries and parts of a monorepo write declarations, too.
  const options = ['--project', project, '--declaration', '--noUnusedLocals'];
  assert.equal(await app.compile([], ...options), '');
});

/** What an example prints, where that says whether it works. */
const prints: Readonly<Record<string, RegExp>> = {
  'send.ts': /^[0-9a-f-]{36}\n$/,
  'errors.ts': /^no value for Order Number [0-9a-f-]{36}\n$/,
  'retry.ts': /^true\n$/,
  'batch.ts': /^[0-9a-f-]{36}\nPERSONALIZATION_FAILURE: .+Order Number/,
  'schedule.ts': /^true\n$/,
  'follow.ts': /^bounced bounced\n$/,
  'stream.ts': /^message\.(delivered|bounced) [0-9a-f-]{36} \S+@\S+\n$/,
  'suppressions.ts': /^gone@customer\.example unsubscribe\n$/,
  'unit.ts': /^ada@customer\.example A-1001\n2\n$/,
  'end-to-end.ts': /^.+\n$/,
  'sign.ts': /^message\.delivered\n$/,
  'manage.ts': /^receipt$/m,
};

for (const { name, line } of blocks)
  test(`the example ${name} works`, async () => {
    const { PATH, HOME } = process.env;
    const { stdout } = await run(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', name],
      {
        cwd: app.folder,
        env: { PATH, HOME, ...environment },
        timeout: 60_000,
      },
    );
    assert.match(stdout, prints[name] ?? /^$/, `docs/typescript.md:${line}`);
  });
