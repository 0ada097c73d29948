import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { connect } from 'node:tls';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { password } from '../../test/support/session-world.ts';
import { openShop } from '../../test/support/shop.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { TestAuthority, type TestCertificate } from '../../test/support/test-certificates.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { freePort } from '../support/free-port.ts';
import { newVisitor, openChromium } from '../support/open-chromium.ts';

/** A node of two processes with built-in TLS, and the clients that people have. */
const folder = temporaryFolder();
const { url: databaseUrl, database } = await createTestDatabase();
const shop = await openShop(database);
const authority = new TestAuthority();
const files = {
  ca: join(folder, 'ca.pem'),
  cert: join(folder, 'tls.crt'),
  key: join(folder, 'tls.key'),
};
writeFileSync(files.ca, authority.ca);

/** Puts the files in place one after the other, as an ACME client does. */
function install(certificate: TestCertificate): string {
  for (const name of ['key', 'cert'] as const) {
    writeFileSync(`${files[name]}.new`, certificate[name], { mode: 0o600 });
    renameSync(`${files[name]}.new`, files[name]);
  }
  return new X509Certificate(certificate.cert).serialNumber;
}

const firstSerial = install(authority.issue(['localhost']));
const port = await freePort();
const origin = `https://localhost:${port}`;
const environment = {
  DATABASE_URL: databaseUrl,
  DATA_DIR: join(folder, 'data'),
  SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
  TLS_CERT: files.cert,
  TLS_KEY: files.key,
  PUBLIC_URL: origin,
  LOG_LEVEL: 'error',
};
const node = runSignalpost(['serve', '--processes', '2'], {
  ...environment,
  HOST: 'localhost',
  PORT: String(port),
});
await node.printed(/running at https:\/\/localhost:\d+/);

/** @returns the version and status that curl saw, such as `2 200` */
function curl(url: string, ...options: string[]): string {
  const { status, stdout, stderr } = spawnSync(
    'curl',
    [
      '--silent',
      '--show-error',
      '--max-time',
      '20',
      '--cacert',
      files.ca,
      '--output',
      '/dev/null',
    ].concat('--write-out', '%{http_version} %{http_code}', ...options, url),
    { encoding: 'utf8' },
  );
  assert.equal(status, 0, stderr);
  return stdout;
}

test('curl trusts the certificate, and reads over HTTP/1.1 even if it offers HTTP/2', () => {
  assert.equal(curl(`${origin}/readyz`, '--http2'), '1.1 200');
});

/** The serial number of the certificate that a new connection gets. */
async function servedSerial(): Promise<string> {
  const socket = connect({ port, host: 'localhost', servername: 'localhost', ca: authority.ca });
  await once(socket, 'secureConnect');
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

/** The kernel gives each of 20 connections to any of the processes: all but surely each gets some. */
async function servedSerials(): Promise<ReadonlySet<string>> {
  return new Set(await Promise.all(Array.from({ length: 20 }, servedSerial)));
}

test('every process uses a replaced certificate', async () => {
  assert.deepEqual(await servedSerials(), new Set([firstSerial]));
  const next = install(authority.issue(['localhost']));
  await waitFor('all processes to use it', async () => {
    const serials = await servedSerials();
    return serials.size === 1 && serials.has(next);
  });
});

test('the console works in Chromium over HTTPS', async () => {
  const visitor = await newVisitor(await openChromium());
  const page = await visitor.newPage();
  const failures: string[] = [];
  page.on('requestfailed', (request) => failures.push(request.url()));
  await page.goto(`${origin}/console`);
  await page.getByLabel('Email').fill(shop.owner.email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { level: 1 }).waitFor();
  const protocols = await page.evaluate(() =>
    performance
      .getEntries()
      .map((entry) => (entry as { nextHopProtocol?: string }).nextHopProtocol),
  );
  assert.deepEqual(new Set(protocols.filter((protocol) => protocol)), new Set(['http/1.1']));
  assert.deepEqual(failures, []);
  await visitor.close();
});

test('a socket from the service manager speaks TLS, too', async () => {
  const socketPort = await freePort();
  const settings = { PATH: process.env.PATH ?? '', HOME: folder, ...environment };
  const manager = spawn(
    'systemd-socket-activate',
    [`--listen=127.0.0.1:${socketPort}`]
      .concat(Object.entries(settings).map(([name, value]) => `--setenv=${name}=${value}`))
      .concat(join(import.meta.dirname, '../../bin/signalpost'), 'serve', '--processes', '1'),
    { env: { PATH: process.env.PATH }, stdio: 'ignore' },
  );
  after(async () => {
    manager.kill('SIGTERM');
    if (manager.exitCode === null && manager.signalCode === null) await once(manager, 'exit');
  });
  const seen = await waitFor('an answer on the socket', () => {
    try {
      return curl(`https://localhost:${socketPort}/readyz`, '--ipv4');
    } catch {
      return undefined;
    }
  });
  assert.equal(seen, '1.1 200');
});
