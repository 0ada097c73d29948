import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { createProgram, leavesOf } from '../../../src/operating/command/run-command.ts';
import type { CommandShell } from '../../../src/operating/command/shell.ts';
import { runInProcess } from '../../support/run-command.ts';
import { sendRequest } from '../../support/send-request.ts';
import { serviceTokens } from '../../support/service-tokens.ts';
import { openShop } from '../../support/shop.ts';
import { TestBrowser } from '../../support/test-browser.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';

const { url, database } = await createTestDatabase();
const service = await startTestService({ databaseUrl: url });
const shop = await openShop(database);
await database.pool.query(
  "insert into membership (account_id, person_id, role) values ($1, $2, 'owner') on conflict (account_id, person_id) do update set role = 'owner'",
  [shop.id, shop.owner.id],
);
const environment = {
  DATABASE_URL: url,
  SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
  PORT: new URL(service.url).port,
};

function run(args: readonly string[], settings: Record<string, string> = {}) {
  return runInProcess(args, { ...environment, ...settings });
}

async function json(args: readonly string[], settings: Record<string, string> = {}) {
  const { code, out, err } = await run([...args, '--json'], settings);
  assert.equal(code, 0, err);
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('a user is added with a link that sets the password, and listed by account and installation', async () => {
  const added = await json(['user', 'add', shop.id, 'New@People.test', '--role', 'viewer']);
  assert.equal(added[0]?.email, 'new@people.test');
  const link = new URL(String(added[0]?.passwordLink));
  const browser = new TestBrowser(service.url);
  const page = await browser.submit(await browser.open(link.pathname), {
    new: 'a password of my own',
  });
  assert.match(page.text, /Password set/);
  const table = await run(['user', 'list', shop.id]);
  assert.match(table.out, /^EMAIL +NAME +ROLE +STATE +SECOND FACTOR +SINCE\n/);
  assert.match(table.out, /^new@people\.test +new@people\.test +viewer +active +no /m);
  const all = await json(['user', 'list']);
  const found = all.find(({ email }) => email === 'new@people.test');
  assert.deepEqual(found?.accounts, [{ accountId: shop.id, role: 'viewer' }]);
  const again = await run(['user', 'add', shop.id, 'new@people.test', '--role', 'owner']);
  assert.match(again.err, /^signalpost: new@people\.test already belongs to the account/);
  for (const [args, sentence] of [
    [['user', 'add', 'nowhere', 'a@b.test', '--role', 'viewer'], /Account nowhere not found/],
    [['user', 'add', shop.id, 'nobody', '--role', 'viewer'], /The email address "nobody" has no @/],
    [['user', 'add', shop.id, 'a@b.test', '--role', 'boss'], /--role must be one of owner/],
    [['user', 'add', shop.id, 'a@b.test', '--role', 'viewer', '--name', ' '], /--name must have/],
    [['user', 'list', 'nowhere'], /Account nowhere not found/],
  ] as const)
    assert.match((await run(args)).err, sentence);
  const audit = await json(['audit', '--kind', 'user_created']);
  assert.deepEqual(audit[0]?.detail, { id: 'new@people.test', role: 'viewer' });
});

test('a user is invited in the name of an owner, within the limits of the console', async () => {
  const invite = ['user', 'invite', shop.id, 'guest@people.test', '--role', 'developer'];
  const relay = { DELIVERY: 'relay', SMTP_URL: 'smtp://127.0.0.1:9' };
  assert.match(
    (await run(invite, relay)).err,
    /System mail isn’t configured\. Set SYSTEM_MAIL_FROM/,
  );
  const [sent] = await json(invite);
  assert.equal(sent?.invitedBy, shop.owner.email);
  const { text } = await sendRequest(
    `${service.url}/inbox/api/messages?to=guest@people.test&wait=30`,
    { headers: { authorization: `Bearer ${serviceTokens.INBOX_TOKEN}` } },
  );
  assert.match(text, /guest@people\.test/);
  assert.match((await run(invite)).err, /less than two minutes ago/);
  assert.match((await run(['user', 'list', shop.id])).out, /^guest@people\.test .*invited, until/m);
  const stranger = [
    ...invite.slice(0, 3),
    'other@people.test',
    ...invite.slice(4),
    '--by',
    'a@b.test',
  ];
  assert.match((await run(stranger)).err, /--by must be an owner of the account/);
});

test('send-test sends a template with its samples, waits for the outcome and leaves no key', async () => {
  const [sent] = await json(['send-test', shop.id, 't-0001', 'ann@people.test']);
  assert.equal(sent?.state, 'delivered');
  const text = await run(['send-test', shop.id, 't-0001', 'ann@people.test']);
  assert.match(text.out, /^[0-9a-f-]{36} {2}delivered: 250 /);
  const missing = await run(['send-test', shop.id, 'none', 'ann@people.test']);
  assert.equal(missing.code, 1);
  assert.match(
    missing.err,
    /^signalpost: Template not found \(POST .*: 404, request [0-9a-f-]{36}\)\.\n$/,
  );
  const away = await run([
    'send-test',
    shop.id,
    't-0001',
    'a@b.test',
    '--url',
    'http://127.0.0.1:9',
  ]);
  assert.match(away.err, /^signalpost: .*127\.0\.0\.1:9/);
  const { rows } = await database.pool.query('select from api_key where account_id = $1', [
    shop.id,
  ]);
  assert.equal(rows.length, 0);
});

/** Only descriptions are read. */
const unused: CommandShell = {
  environment: {},
  exitCode: 0,
  in: process.stdin,
  out: () => undefined,
  err: () => undefined,
};

test('every command with a result has --json; lists say “none” when they are empty', async () => {
  const program = await createProgram(unused);
  const without = leavesOf(program).filter(
    (command) => !command.options.some(({ long }) => long === '--json'),
  );
  assert.deepEqual(without.map((command) => command.name()).sort(), [
    'completion',
    'export',
    'mcp',
    'serve',
    'start',
    'types',
  ]);
  for (const list of [
    ['queue', 'list', shop.id],
    ['domain', 'list', shop.id],
    ['key', 'list', shop.id],
    ['operator', 'list'],
    ['destination', 'tls'],
  ]) {
    assert.equal((await run(list)).out, 'none\n', list.join(' '));
    assert.deepEqual(await json(list), [], list.join(' '));
  }
  const { out } = await run(['doctor', '--json']);
  const checks = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).check);
  assert.deepEqual(checks.slice(0, 3), ['settings', 'database', 'server']);
  assert.deepEqual(await json(['queue', 'pause', shop.id]), [{ changed: 1, busy: 0 }]);
});

test('every command names its account by the first argument', async () => {
  const program = await createProgram(unused);
  const leaves = leavesOf(program);
  const named = leaves.filter((command) =>
    command.registeredArguments.some((argument) => argument.name() === 'account'),
  );
  assert.ok(named.length > 15);
  for (const command of named)
    assert.equal(command.registeredArguments[0]?.name(), 'account', command.name());
  const byOption = leaves
    .filter((command) =>
      command.options.some(
        ({ long, hidden }) => !hidden && /^--(?:account|message)$/.test(long ?? ''),
      ),
    )
    .map((command) => command.name());
  // That of a manifest, which needs no account if only one has templates.
  assert.deepEqual(byOption, ['types']);
});

test('bash completes commands and options', async () => {
  const script = await run(['completion', 'bash']);
  assert.equal(script.code, 0, script.err);
  const folder = await mkdtemp(join(tmpdir(), 'completion-'));
  after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'completion.bash');
  await writeFile(file, script.out);
  const complete = async (...words: string[]) => {
    const command = `. '${file}'; COMP_WORDS=(signalpost ${words.map((word) => `'${word}'`).join(' ')});
      COMP_CWORD=${words.length}; _signalpost; echo "\${COMPREPLY[@]}"`;
    const { stdout } = await promisify(execFile)('bash', ['-c', command]);
    return stdout.trim().split(' ');
  };
  assert.deepEqual(await complete('que'), ['queue']);
  assert.deepEqual(await complete('key', 'r'), ['rotate', 'revoke', 'rotate-master']);
  assert.deepEqual(await complete('key', 'create', '1000', '--sc'), ['--scope']);
  assert.ok((await complete('user', '')).includes('invite'));
  assert.match((await run(['completion', 'zsh'])).out, /^#compdef signalpost/);
  assert.match((await run(['completion', 'fish'])).out, /-a invite$/m);
  assert.match((await run(['completion', 'tcsh'])).err, /"tcsh" is not one of bash, zsh, fish/);
});
