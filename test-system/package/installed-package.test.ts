import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { packRepository } from '../support/pack-repository.ts';

const run = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), 'package-'));
// If root starts it, PostgreSQL runs as another user, which needs access to the folder.
await chmod(folder, 0o755);
after(() => rm(folder, { recursive: true, force: true }));

/** Starts the installed program; resolves with the URL that it prints. */
async function start(): Promise<string> {
  const child = spawn('npx', ['--no-install', 'signalpost', 'start'], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: '0', DEMO: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
    // A process group, to stop npx, a shell and the service together.
    detached: true,
  });
  // `close`, not `exit`: npx exits at once, while the service is still stopping its database.
  const end = once(child, 'close');
  after(async () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
    child.stdout.resume();
    await end;
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const [, address] = /^\s+Service\s+(http\S+)/.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error('the service did not start');
}

test('npm installs the published package into an empty folder, where it starts with console, documentation and database', async () => {
  const { file, paths } = await packRepository(join(folder, 'repository'));
  assert.ok(paths.includes('console/dist/index.html'));
  assert.ok(paths.includes('dist/main.js'));
  assert.deepEqual(
    paths.filter((path) =>
      /^(?:src|test|test-system|test-long|bench|console\/src|data)\//.test(path),
    ),
    [],
  );
  await writeFile(join(folder, 'package.json'), '{ "private": true }');
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', file], {
    cwd: folder,
    maxBuffer: 50_000_000,
  });
  const address = await start();
  const page = await (await fetch(`${address}/console`)).text();
  const [, script = ''] = /<script type="module"[^>]* src="([^"]+)"/.exec(page) ?? [];
  for (const [path, type] of [
    [script, /javascript/],
    ['/docs/viewer.js', /javascript/],
    ['/openapi.json', /json/],
    ['/docs/guide/send-email', /html/],
    ['/docs/guide/llms.txt', /plain/],
    ['/manage/v1/set-up', /json/],
  ] as const) {
    const response = await fetch(`${address}${path}`);
    assert.equal(response.status, 200, path);
    assert.match(response.headers.get('content-type') ?? '', type);
  }
  const template = {
    name: 'Receipt',
    versions: [{ subject: 'Receipt', html_content: '<p>Hi</p>' }],
  };
  await writeFile(join(folder, 'receipt.json'), JSON.stringify(template));
  const args = ['import', 'sendgrid', '--templates', 'receipt.json', '--dir', 'emails'];
  const { stdout } = await run('npx', ['--no-install', 'signalpost', ...args], { cwd: folder });
  assert.equal(stdout, 'receipt: written\n');
  const inbox = await fetch(`${address}/inbox/api/messages`);
  assert.equal(inbox.status, 401);
  assert.match(await inbox.text(), /INBOX_TOKEN/);
  const inboxPage = await fetch(`${address}/inbox`, { headers: { accept: 'text/html' } });
  assert.equal(inboxPage.url, `${address}/console/.server/inbox`);
  assert.equal(inboxPage.status, 200);
});
