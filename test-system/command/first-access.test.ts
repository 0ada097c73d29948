import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parseEnv } from 'node:util';
import { copyDataFolder } from '../../test/support/copy-data-folder.ts';
import { readInbox } from '../../test/support/inbox-client.ts';
import { ManagementClient } from '../../test/support/management-client.ts';
import { type Finished, runInProcess } from '../../test/support/run-command.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { sendRequest } from '../../test/support/send-request.ts';

const dataDir = copyDataFolder('initialized');
const environment = { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' };
const service = runSignalpost(['start'], environment);
after(() => service.child.kill('SIGTERM'));
const [, url = ''] = await service.printed(/Service\s+(http:\/\/\S+)/);
const page = new ManagementClient({ url }, undefined, { 'x-signalpost-request': '1' });

function run(...args: string[]): Promise<Finished> {
  return runInProcess(args, environment);
}

function demoEnvironment(): Record<string, string | undefined> {
  return parseEnv(readFileSync(join(dataDir, 'demo.env'), 'utf8'));
}

test('the start prints a link that opens the inbox, and inbox-link prints only a new one', async () => {
  const [link] = await service.printed(/http\S+\/inbox\/enter\?code=\S+/);
  assert.ok(link.startsWith(url));
  const { code, out } = await run('inbox-link');
  assert.equal(code, 0);
  assert.match(out, /^http\S+\/inbox\/enter\?code=[\w-]{43}\n$/);
  assert.ok(out.startsWith(url), 'the URL of the service');
  assert.equal((await sendRequest(link)).status, 401, 'the previous one is invalid');
  assert.equal((await sendRequest(out.trim())).status, 303);
});

test('programs read the inbox with the token that the first start stores in demo.env', async () => {
  const { INBOX_TOKEN: token = '' } = demoEnvironment();
  assert.match(token, /^[\w-]{32}$/);
  assert.equal(statSync(join(dataDir, 'demo.env')).mode & 0o777, 0o600);
  assert.deepEqual(await readInbox(url, '', { authorization: `Bearer ${token}` }), []);
  const { status } = await sendRequest(`${url}/inbox/api/messages`);
  assert.equal(status, 401);
});

test('set-up-link prints a link that creates the first owner, once, and operator commands take over from there', async () => {
  const [, first = ''] = await service.printed(/\/console#set-up=(\S+)/);
  const nobody = await run('operator', 'list');
  assert.deepEqual([nobody.code, nobody.out], [0, 'none\n']);
  const doctor = await run('doctor');
  assert.match(doctor.out, /^ok {3}operators none\n.*signalpost set-up-link$/m);
  const { code, out } = await run('set-up-link');
  assert.equal(code, 0);
  const [, latest = ''] = /^http\S+\/console#set-up=([\w-]{43})\n$/.exec(out) ?? [];
  const owner = {
    email: 'ann@shop.test',
    name: 'Ann',
    password: 'a very long password',
    accountId: 'shop',
    accountName: 'Shop',
  };
  assert.equal((await page.post('/set-up', { ...owner, code: first })).status, 403);
  assert.equal((await page.post('/set-up', { ...owner, code: latest })).status, 201);
  const late = await run('set-up-link');
  assert.equal(late.code, 1);
  assert.match(late.err, /^signalpost: This installation is already set up\. .*operator add EMAIL/);

  assert.equal((await run('operator', 'list')).out, 'EMAIL\nann@shop.test\n');
  const added = await run('operator', 'add', 'developer@shop.test');
  assert.equal(added.out, 'Done: developer@shop.test is an operator.\n');
  assert.equal((await run('operator', 'list')).out, 'EMAIL\nann@shop.test\ndeveloper@shop.test\n');
  assert.match(
    (await run('doctor')).out,
    /^ok {3}operators ann@shop\.test, developer@shop\.test$/m,
  );
  assert.equal((await run('operator', 'remove', 'developer@shop.test')).code, 0);
  assert.equal((await run('operator', 'list')).out, 'EMAIL\nann@shop.test\n');
  const unknown = await run('operator', 'add', 'nobody@shop.test');
  assert.deepEqual(
    [unknown.code, unknown.err],
    [1, 'signalpost: User "nobody@shop.test" not found.\n'],
  );
  const kinds = (await run('audit', '--json')).out
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { kind: string }).kind);
  for (const kind of [
    'operator_created',
    'operator_removed',
    'set_up_link_made',
    'inbox_link_made',
  ])
    assert.ok(kinds.includes(kind), kind);
});

test('password-link prints a link to the running service, on whatever port it listens', async () => {
  const { code, out, err } = await run('user', 'password-link', 'viewer@shop.test');
  assert.equal(code, 0, err);
  assert.ok(out.startsWith(`${url}/set-password/`), out);
});

test('without an inbox, there is no link to it', async () => {
  const settings = { ...environment, SMTP_URL: 'smtp://127.0.0.1:1' };
  const { code, err } = await runInProcess(['inbox-link'], settings);
  assert.equal(code, 1);
  assert.match(err, /DELIVERY=relay doesn’t capture mail, so there is no inbox/);
});

test('the help lists every command', async () => {
  const { out } = await run('--help');
  for (const name of ['set-up-link', 'inbox-link', 'operator'])
    assert.match(out, new RegExp(`^ {2}${name}\\b`, 'm'));
});

test('a start on a folder of an earlier release adds the token to demo.env and keeps the rest', async () => {
  service.child.kill('SIGTERM');
  await service.exit;
  const before = demoEnvironment();
  const file = join(dataDir, 'demo.env');
  const lines = readFileSync(file, 'utf8').split('\n');
  writeFileSync(file, lines.filter((line) => !line.includes('INBOX_TOKEN')).join('\n'));
  const later = runSignalpost(['start'], environment);
  const [, address = ''] = await later.printed(/Service\s+(http:\/\/\S+)/);
  assert.doesNotMatch(later.output.stdout, /#set-up=/, 'it has its owner');
  const { INBOX_TOKEN: token, ...rest } = demoEnvironment();
  const { INBOX_TOKEN: earlier, ...kept } = before;
  assert.deepEqual(rest, kept);
  assert.notEqual(token, earlier);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  await readInbox(address, '', { authorization: `Bearer ${token}` });
  later.child.kill('SIGTERM');
  assert.equal(await later.exit, 0);
});
