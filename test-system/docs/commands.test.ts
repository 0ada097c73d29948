import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { copyDataFolder } from '../../test/support/copy-data-folder.ts';
import { type CodeBlock, codeBlocks, markdownPages } from '../../test/support/markdown-pages.ts';
import { runInProcess } from '../../test/support/run-command.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';

/**
 * Every `sh` block of the README and the guide runs here unchanged, page by page, on a newly started service. Its commands run
 * in this process: loading the program anew for each would take most of the time, and `test-system/command` starts it. A
 * `console` block isn't run and needs a comment above it, `<!-- not run: … -->`, that says why.
 */
const root = join(import.meta.dirname, '../..');
const pages = markdownPages(root).filter(
  (page) => page === 'README.md' || page.startsWith('docs/'),
);
const printedPages = ['benchmarks.md'];
/** `typescript.test.ts` and tests of `test-system/client` compile and run these. */
const programs = ['ts', 'tsx', 'python', 'php', 'ruby', 'go', 'java'];
const data = [
  'console',
  'css',
  'html',
  'ini',
  'js',
  'json',
  'mermaid',
  'sql',
  'text',
  'toml',
  'yaml',
  'prisma',
];
const hasCurl = spawnSync('curl', ['--version']).error === undefined;

const folder = temporaryFolder();
/** Sends its arguments and environment to this process; prints the output, and fails if the command does. */
const program = `#!/bin/sh
{ printf '%s\\0' "$#" "$@"; env -0; } |
  exec curl --silent --show-error --fail-with-body --unix-socket commands --data-binary @- http://commands
`;

const serviceUrl = hasCurl ? await startService() : '';

async function runCommands(): Promise<void> {
  const server = createServer(async (request, response) => {
    const [count, ...words] = String(await buffer(request)).split('\0');
    const args = words.splice(0, Number(count));
    const environment = words.map((word) => /^([^=]+)=(.*)$/s.exec(word) ?? []);
    const { code, out, err } = await runInProcess(
      args,
      Object.fromEntries(environment.map(([, name, value]) => [name, value])),
    );
    response.writeHead(code === 0 ? 200 : 500).end(code === 0 ? out : out + err);
  }).listen(join(folder, 'commands'));
  await once(server, 'listening');
  const before = process.cwd();
  process.chdir(folder);
  after(() => {
    process.chdir(before);
    server.close();
  });
}

async function startService(): Promise<string> {
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/signalpost'), program, { mode: 0o755 });
  await runCommands();
  symlinkSync(join(root, 'demo'), join(folder, 'demo'));
  const environment = {
    DATA_DIR: copyDataFolder('started', join(folder, 'data')),
    PORT: '0',
    LOG_LEVEL: 'warn',
  };
  const [, url = ''] = await runSignalpost(['start'], environment).printed(/Service +(http:\S+)/);
  return url;
}

test('every code block has a language, and a reason if it could run but does not', () => {
  for (const page of pages) {
    if (printedPages.some((name) => page.endsWith(`/${name}`))) continue;
    for (const block of codeBlocks(root, page)) {
      const place = `${page}:${block.line}`;
      const languages = ['sh', ...programs, ...data];
      assert.ok(languages.includes(block.language), `${place}: its language`);
      if (block.language === 'console')
        assert.match(block.above, /^<!-- not run: .+ -->$/, `${place}: why it is not run`);
    }
  }
});

for (const page of pages) {
  const blocks = codeBlocks(root, page).filter(({ language }) => language === 'sh');
  if (blocks.length === 0) continue;
  test(`the commands of ${page} work`, { skip: !hasCurl && 'curl is not installed' }, async () => {
    const { code, output } = await runBlocks(blocks);
    assert.equal(code, 0, `${page}:\n${output.slice(-3_000)}`);
  });
}

/** Runs blocks in one shell, as a reader would; curl fails on error statuses. */
async function runBlocks(
  blocks: readonly CodeBlock[],
): Promise<{ readonly code: number | null; readonly output: string }> {
  const script = [
    'curl() { command curl --fail-with-body --max-time 60 "$@"; }',
    ...blocks.flatMap(({ line, text }) => [
      `echo "--- line ${line}"`,
      text.replaceAll('http://127.0.0.1:3000', serviceUrl),
    ]),
  ].join('\n');
  const { HOME, NODE_COMPILE_CACHE, PATH } = process.env;
  const env = { HOME, NODE_COMPILE_CACHE, PATH: `${dirname(process.execPath)}:${PATH}` };
  const child = spawn('bash', ['-euo', 'pipefail'], { cwd: folder, env, timeout: 200_000 });
  child.stdin.end(script);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk;
    });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}
