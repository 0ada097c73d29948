import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { addKey } from '../../test/support/api-key.ts';
import { bodyWith, SendClient } from '../../test/support/send-client.ts';
import { password } from '../../test/support/session-world.ts';
import { getToken, openShop } from '../../test/support/shop.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { TestAuthority } from '../../test/support/test-certificates.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { blockWith, substitute, TlsProxy } from '../../test-system/support/deployment.ts';
import { freePort } from '../../test-system/support/free-port.ts';

/** Debian's nginx and HAProxy with the configurations of the pages; deploy.test.ts does the same with Caddy. */
const host = 'mail.example.com';
const folder = temporaryFolder();
const { url, database } = await createTestDatabase();
const shop = await openShop(database);
const key = await addKey(database, shop.id, { networks: ['127.0.0.7/32'] });
const service = await startTestService({
  databaseUrl: url,
  environment: { TRUST_PROXY: '127.0.0.1', PUBLIC_URL: `https://${host}` },
});
const upstream = new URL(service.url).host;
const authority = new TestAuthority();
const certificate = authority.issue([host]);
const crt = join(folder, 'mail.crt');
const pem = join(folder, 'mail.pem');
writeFileSync(crt, certificate.cert);
writeFileSync(join(folder, 'mail.key'), certificate.key, { mode: 0o600 });
writeFileSync(pem, `${certificate.cert}\n${certificate.key}\n`, { mode: 0o600 });

async function run(command: string, check: readonly string[], serve: readonly string[]) {
  const checked = spawnSync(command, check, { encoding: 'utf8' });
  assert.equal(checked.status, 0, checked.stderr);
  const child = spawn(command, serve, { stdio: 'ignore' });
  after(async () => {
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
}

async function startNginx(): Promise<TlsProxy> {
  const port = await freePort();
  const site = substitute(blockWith('docs/operate/deploy.md', 'proxy_pass'), {
    '127.0.0.1:3000': upstream,
    'listen 443': `listen 127.0.0.1:${port}`,
    '/etc/ssl/mail.example.com.crt': crt,
    '/etc/ssl/private/mail.example.com.key': join(folder, 'mail.key'),
  });
  const home = join(folder, 'nginx');
  mkdirSync(home);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(home, name)};`)
    .join('\n');
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `pid ${join(home, 'pid')};\nerror_log ${join(home, 'errors')};\nevents {}\nhttp {\naccess_log off;\n${temporary}\n${site}\n}\n`,
  );
  await run('nginx', ['-t', '-c', file], ['-c', file, '-g', 'daemon off;']);
  return new TlsProxy(host, port, () => authority.ca);
}

async function startHaproxy(): Promise<TlsProxy> {
  const port = await freePort();
  const file = join(folder, 'haproxy.cfg');
  const text = substitute(blockWith('docs/operate/scale.md', 'option httpchk'), {
    '/etc/haproxy/mail.pem': pem,
    ':443': `127.0.0.1:${port}`,
    '10.0.0.11:3000': upstream,
    '10.0.0.12:3000': upstream,
  });
  writeFileSync(file, `${text}\n`);
  await run('haproxy', ['-c', '-f', file], ['-db', '-f', file]);
  return new TlsProxy(host, port, () => authority.ca);
}

/** @returns the status of the sign-in and the recorded address */
async function signIn(proxy: TlsProxy, from: string, headers: Record<string, string>) {
  const page = await proxy.request('/sign-in', { from });
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const cookie = String(page.headers['set-cookie']?.[0]).split(';')[0] ?? '';
  const { status } = await proxy.request('/sign-in', {
    method: 'POST',
    from,
    headers: {
      ...headers,
      cookie,
      origin: `https://${host}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: String(new URLSearchParams({ csrf, email: shop.owner.email, password })),
  });
  const { rows } = await database.pool.query(
    'select remote_address as address from audit_event order by at desc limit 1',
  );
  return { status, address: rows[0]?.address as string };
}

for (const [name, start] of [
  ['nginx', startNginx],
  ['HAProxy', startHaproxy],
] as const) {
  const proxy = await start();
  await waitFor(`${name} to answer`, () =>
    proxy.request('/healthz').then(
      ({ status }) => status === 200,
      () => false,
    ),
  );

  test(`people sign in through ${name}, which tells their address and no forged one`, async () => {
    const from = '127.0.0.6';
    const forged = { 'x-forwarded-for': '203.0.113.9' };
    assert.deepEqual(await signIn(proxy, from, forged), { status: 303, address: from });
  });

  test(`${name} speaks HTTP/2 with clients`, async () => {
    assert.equal(await proxy.requestHttp2('/healthz'), 200);
  });

  test(`an attachment of 5 MiB passes ${name}, with the key of the client’s network only`, async () => {
    const content = randomBytes(5 * 1024 * 1024).toString('base64');
    const send = (from: string) =>
      proxy.request(`/ete/v1/email/${shop.id}/t-0001`, {
        method: 'POST',
        from,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(
          bodyWith({
            content: {
              attachments: [
                { filename: 'a.bin', contentType: 'application/octet-stream', content },
              ],
            },
          }),
        ),
      });
    const sent = await send('127.0.0.7');
    assert.equal(sent.status, 200, sent.text);
    assert.equal((await send('127.0.0.8')).status, 401);
  });

  test(`${name} passes events on while the response is open`, async () => {
    const reader = await addKey(database, shop.id, { scopes: ['messages:read'] });
    const path = `/manage/v1/accounts/${shop.id}/events?after=latest`;
    const updates = await proxy.open(path, {
      headers: { authorization: `Bearer ${reader}`, accept: 'text/event-stream' },
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
    await waitFor('the event', () => received.includes('data:'), 5_000);
    updates.destroy();
  });
}
