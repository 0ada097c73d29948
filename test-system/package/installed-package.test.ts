import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, glob, lstat, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { packRepository } from '../support/pack-repository.ts';

const run = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), 'package-'));
// If root starts it, PostgreSQL runs as another user, which needs access to the folder.
await chmod(folder, 0o755);
after(() => rm(folder, { recursive: true, force: true }));

const { file, paths } = await packRepository(join(folder, 'repository'));
await writeFile(join(folder, 'package.json'), '{ "private": true }');
await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', file], {
  cwd: folder,
  maxBuffer: 50_000_000,
});

/** Starts the installed program; resolves with what it prints, up to the link of the inbox. */
async function start(): Promise<{ readonly address: string; readonly said: string }> {
  const child = spawn('npx', ['--no-install', 'signalpost'], {
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
  let said = '';
  for await (const line of createInterface({ input: child.stdout })) {
    said += `${line}\n`;
    const [, address] = /^\s+Service\s+(http\S+)/m.exec(said) ?? [];
    if (address !== undefined && line.includes('Each link works once')) return { address, said };
  }
  throw new Error('the service did not start');
}

// Before a start, which adds a cache of compiled code.
test('an installation has at most 330 packages and 380 MB, Node and PostgreSQL included', async () => {
  const modules = join(folder, 'node_modules');
  let packages = 0;
  const places = ['', '**/node_modules/'].map((place) => `${place}{*,@*/*}/package.json`);
  for await (const path of glob(places, { cwd: modules }))
    if (!dirname(path).endsWith('node_modules')) packages += 1;
  assert.ok(packages > 250 && packages <= 330, `${packages} packages`);
  const bytes = (
    await Promise.all(
      (
        await readdir(modules, { recursive: true })
      ).map(async (path) => (await lstat(join(modules, path))).blocks * 512),
    )
  ).reduce((sum, size) => sum + size, 0);
  assert.ok(bytes <= 380 * 2 ** 20, `${Math.ceil(bytes / 2 ** 20)} MB`);
});

test('an installation has each large library once, in the version that was tested, and nothing for development', async () => {
  // Fails if a package lacks what it requires, or has it in another version.
  await run('npm', ['ls', '--all'], { cwd: folder, maxBuffer: 50_000_000 });
  const { packages } = JSON.parse(
    await readFile(join(folder, 'repository/package-lock.json'), 'utf8'),
  );
  for (const name of ['cheerio', 'html-to-text', 'nodemailer', 'undici']) {
    const versions: string[] = [];
    for await (const path of glob(`**/node_modules/${name}/package.json`, {
      cwd: join(folder, 'node_modules'),
    }))
      versions.push(JSON.parse(await readFile(join(folder, 'node_modules', path), 'utf8')).version);
    assert.deepEqual(versions, [packages[`node_modules/${name}`].version], name);
  }
  const own = join(folder, 'node_modules/signalpost/node_modules');
  for (const name of ['typescript', 'vite', 'react', '@types'])
    assert.ok(!existsSync(join(own, name)), name);
});

test('npx starts the installed package in an empty folder, with console, documentation and database', async () => {
  assert.ok(paths.includes('console/dist/index.html'));
  assert.ok(paths.includes('dist/main.js'));
  assert.deepEqual(
    paths.filter((path) =>
      /^(?:src|test|test-system|test-long|bench|console\/src|data)\//.test(path),
    ),
    [],
  );
  const { address, said } = await start();
  assert.ok(existsSync(join(folder, 'data/database/PG_VERSION')));
  assert.match(said, /For a new one: npx signalpost set-up-link or npx signalpost inbox-link/);
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
