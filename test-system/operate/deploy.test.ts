import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import pg from 'pg';
import { startProgramPostgres } from '../../scripts/program-postgres.ts';
import { runAdminStatement, withDatabase } from '../../scripts/scratch-database.ts';
import { addKey } from '../../test/support/api-key.ts';
import { startSink } from '../../test/support/mail-sink.ts';
import { bodyWith, SendClient } from '../../test/support/send-client.ts';
import { getToken, openShop } from '../../test/support/shop.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { blockWith, Caddy, runShell, substitute } from '../support/deployment.ts';
import { freePort } from '../support/free-port.ts';

/**
 * The deployment of docs/operate/deploy.md and the backup of docs/operate/back-up.md, with Debian's PostgreSQL and Caddy. Only
 * addresses, ports, folders and the relay differ from the pages.
 */
const deploy = 'docs/operate/deploy.md';
const backUp = 'docs/operate/back-up.md';
const host = 'mail.example.com';
const origin = `https://${host}`;
const root = join(import.meta.dirname, '../..');
const folder = temporaryFolder();
const dataDir = join(folder, 'data');
const settingsFile = join(folder, 'signalpost.env');
const port = await freePort();
const postgres = await startProgramPostgres('/usr/lib/postgresql/15/bin', { likeProduction: true });
after(() => postgres.stop());
const sink = await startSink();

for (const name of [dataDir, join(folder, 'bin')]) mkdirSync(name);
symlinkSync(join(root, 'bin/signalpost'), join(folder, 'bin/signalpost'));
writeFileSync(
  settingsFile,
  `${substitute(blockWith(deploy, 'SYSTEM_MAIL_FROM='), {
    'METRICS_TOKEN=CHANGE-ME': 'METRICS_TOKEN=metrics-token-of-the-deployment',
    '/var/lib/signalpost': dataDir,
    '127.0.0.1:5432/mail': `localhost/mail${new URL(postgres.url).search}`,
    'user:password@relay.example.com:587': `127.0.0.1:${sink.port}?tls=off`,
  })}\nPORT=${port}\n`,
);
const load = `set -a; . ${settingsFile}; set +a`;

/** Runs a block of SQL as a superuser, like a reader in psql. */
async function psql(page: string, text: string, database = 'postgres'): Promise<void> {
  const file = join(folder, 'statements.sql');
  writeFileSync(file, blockWith(page, text));
  const url = withDatabase(postgres.url, database);
  await runShell(`psql --no-psqlrc -v ON_ERROR_STOP=1 -f ${file} '${url}'`, folder);
}

/** Starts what the unit runs. @returns stops it and resolves with the exit code */
async function serve(): Promise<() => Promise<number>> {
  const [, command = ''] = /^ExecStart=((?:.*\\\n)*.*)$/m.exec(unit()) ?? [];
  const child = spawn(
    'sh',
    ['-eu', '-c', `${load}; exec ${command.replaceAll('/opt/signalpost', root)}`],
    {
      cwd: folder,
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const exit = once(child, 'exit') as Promise<[number]>;
  const stop = async (): Promise<number> => {
    if (child.exitCode === null) child.kill('SIGTERM');
    return (await exit)[0];
  };
  after(stop);
  await waitFor(
    'the service to be ready',
    () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => child.exitCode !== null && assert.fail('the service exited'),
      ),
    // Its processes start one after another, beside the other tests.
    120_000,
  );
  return stop;
}

const unit = (): string => blockWith(deploy, '[Service]');
const owner = { email: 'ann@example.com', password: 'a very long password' };

async function signIn(from: string, headers: Record<string, string> = {}): Promise<number> {
  const page = await caddy.request('/sign-in', { from });
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const cookie = String(page.headers['set-cookie']?.[0]).split(';')[0] ?? '';
  const { status } = await caddy.request('/sign-in', {
    method: 'POST',
    from,
    headers: { ...headers, cookie, origin, 'content-type': 'application/x-www-form-urlencoded' },
    body: String(new URLSearchParams({ csrf, ...owner })),
  });
  return status;
}

await psql(deploy, 'create database mail');
let stop = await serve();
const site = blockWith(deploy, 'reverse_proxy');
const upstream = '127.0.0.1:3000';
const caddy = await Caddy.start(
  substitute(site, { [upstream]: `127.0.0.1:${port}` }),
  host,
  join(folder, 'caddy'),
);

test('doctor finds nothing wrong with the deployment, and the setup link makes the reader the owner', async () => {
  const commands = blockWith(deploy, 'bin/signalpost set-up-link').split('\n').slice(2).join('\n');
  const output = await runShell(
    substitute(commands, { '/etc/signalpost.env': settingsFile }),
    folder,
  );
  assert.match(output, /^ok +database/m);
  assert.doesNotMatch(output, /superuser/);
  const [, code = ''] =
    /^https:\/\/mail\.example\.com\/console#set-up=([\w-]{43})$/m.exec(output) ?? [];
  const response = await caddy.request('/manage/v1/set-up', {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json', 'x-signalpost-request': '1' },
    body: JSON.stringify({
      ...owner,
      code,
      name: 'Ann',
      accountId: '46100',
      accountName: 'Example',
    }),
  });
  assert.equal(response.status, 201, response.text);
  assert.match(String(response.headers['set-cookie']?.[0]), /; Secure/);
});

test('people sign in through the proxy, and the audit log has their address, not the proxy’s or a forged one', async () => {
  assert.equal(await signIn('127.0.0.5'), 303);
  assert.equal(await signIn('127.0.0.6', { 'x-forwarded-for': '203.0.113.9' }), 303);
  const log = await runShell(`${load}; bin/signalpost audit --kind sign_in --json`, folder);
  const addresses = log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).remoteAddress as string);
  assert.deepEqual(addresses.slice(0, 2), ['127.0.0.6', '127.0.0.5']);
});

test('a message sent through the proxy reaches the relay', async () => {
  const manifest = join(folder, 'example.yaml');
  writeFileSync(
    manifest,
    JSON.stringify({
      accounts: [
        {
          id: '46100',
          name: 'Example',
          addOns: ['transactional'],
          senders: [{ address: 'mail@example.com', displayNames: ['*'], verified: true }],
          templates: [
            {
              id: 't-0001',
              name: 'Hello',
              createdBy: owner.email,
              sender: 'mail@example.com',
              subject: 'Order {{Order Number}}',
              html: '<p>Thanks</p>',
              fields: { 'Order Number': { sample: 'A-1' } },
            },
          ],
        },
      ],
    }),
  );
  const key = await runShell(
    `${load}; bin/signalpost apply ${manifest} >/dev/null
     bin/signalpost key create 46100 --name Shop --scope messages:send --network 127.0.0.7/32`,
    folder,
  );
  const send = (from: string) =>
    caddy.request('/ete/v1/email/46100/t-0001', {
      method: 'POST',
      from,
      headers: { authorization: `Bearer ${key.trim()}`, 'content-type': 'application/json' },
      body: JSON.stringify(bodyWith({ actions: { trackOpens: false, trackClicks: false } })),
    });
  const elsewhere = await send('127.0.0.8');
  assert.equal(elsewhere.status, 401, 'a key for the network of the proxy’s client');
  const response = await send('127.0.0.7');
  assert.equal(response.status, 200, response.text);
  await waitFor('the message', () => sink.mails.some(({ to }) => to[0] === 'reader@example.test'));
});

test('a reader gets events through the proxy while the response is open', async () => {
  const { url: databaseUrl, database } = await createTestDatabase();
  const shop = await openShop(database);
  const key = await addKey(database, shop.id, { scopes: ['messages:read'] });
  const service = await startTestService({ databaseUrl });
  const own = substitute(site, { [upstream]: new URL(service.url).host });
  const proxy = await Caddy.start(own, host, join(folder, 'events-caddy'));
  const updates = await proxy.open(`/manage/v1/accounts/${shop.id}/events?after=latest`, {
    headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
  });
  assert.equal(updates.headers['content-type'], 'text/event-stream');
  let received = '';
  updates.setEncoding('utf8').on('data', (chunk: string) => {
    received += chunk;
  });
  await waitFor('the stream to open', () => received.includes('retry'));
  const sender = new SendClient(service, await getToken(service, shop), shop.id);
  assert.equal((await sender.send()).status, 200);
  // Heartbeats come every 15 seconds: a buffering proxy would deliver the event no sooner.
  await waitFor('the event', () => received.includes('data:'), 13_000);
  updates.destroy();
});

test('a backup restores into an empty database, with the key that its secrets need', async () => {
  const settings = { '/etc/signalpost.env': settingsFile };
  await runShell(substitute(blockWith(backUp, 'pg_dump --format'), settings), folder);
  assert.equal(await stop(), 0);
  await runAdminStatement(postgres.url, 'drop database mail');
  await runAdminStatement(postgres.url, 'drop role signalpost_service');
  rmSync(join(dataDir, 'signalpost.key'));
  await psql(deploy, 'create database mail');
  const user = { '-o signalpost': `-o ${userInfo().username}` };
  await runShell(substitute(blockWith(backUp, 'pg_restore'), { ...settings, ...user }), folder);
  stop = await serve();
  const doctor = await runShell(`${load}; bin/signalpost doctor`, folder);
  assert.match(doctor, /^ok +key/m);
  assert.match(doctor, /ann@example\.com/);
  assert.equal(await signIn('127.0.0.9'), 303);
});

test('the statements of the hardening page move a superuser’s database to a plain role', async () => {
  await stop();
  const superuser = withDatabase(postgres.url, 'mail');
  await runAdminStatement(superuser, 'reassign owned by signalpost_service to postgres');
  await runAdminStatement(superuser, 'drop owned by signalpost_service');
  await runAdminStatement(superuser, 'drop role signalpost_service');
  await psql('docs/operate/harden.md', 'alter database mail', 'mail');
  const { rows } = await query(
    superuser,
    `select relname from pg_class join pg_namespace n on n.oid = relnamespace
       where nspname in ('public', 'signalpost') and relowner <> 'signalpost_service'::regrole
     union all
     select proname from pg_proc join pg_namespace n on n.oid = pronamespace
       where nspname in ('public', 'signalpost') and proowner <> 'signalpost_service'::regrole
     union all
     select typname from pg_type join pg_namespace n on n.oid = typnamespace
       where nspname in ('public', 'signalpost') and typowner <> 'signalpost_service'::regrole`,
  );
  assert.deepEqual(rows, []);
  await serve();
  assert.doesNotMatch(await runShell(`${load}; bin/signalpost doctor`, folder), /superuser/);
});

/** The rows of a query as a superuser. */
async function query(url: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}
