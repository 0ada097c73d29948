import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'node:tls';
import { startSink } from '../../test/support/mail-sink.ts';
import { type Running, spawnRunning } from '../../test/support/run-signalpost.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { TestAuthority, type TestCertificate } from '../../test/support/test-certificates.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { freePort } from '../../test-system/support/free-port.ts';
import { startPostgresPair } from '../../test-system/support/postgres-pair.ts';
import { unpackReleaseBefore } from '../../test-system/support/release-before.ts';
import { writeShopManifest } from '../../test-system/support/shop-manifest.ts';

/**
 * An operator's first month with one installation: every message that got a 200 arrives, once, whatever is done to the
 * installation in between. What the disk lost is known beforehand: it is lost while nothing waits to be backed up.
 */
const folder = temporaryFolder();
const installed = unpackReleaseBefore(folder);
const upgraded = join(import.meta.dirname, '../..');
const dataDir = join(folder, 'data');
const backups = join(folder, 'backups');
const identity = join(folder, 'identity.txt');
const authority = new TestAuthority();
const tls = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
const sink = await startSink();

/** As in /etc/signalpost.env. */
const settings: Record<string, string> = {
  DATA_DIR: dataDir,
  HOST: 'localhost',
  DEMO: '0',
  DELIVERY: 'relay',
  SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
  TLS_CERT: tls.cert,
  TLS_KEY: tls.key,
  DRAIN_SECONDS: '1',
  LOG_LEVEL: 'warn',
};

const manifest = writeShopManifest(folder);

let release = installed ?? '';

async function command(...args: string[]): Promise<string> {
  const { exit, output } = spawnRunning(`${release}/bin/signalpost`, args, settings);
  assert.equal(await exit, 0, `${args.join(' ')}: ${output.stdout}${output.stderr}`);
  return output.stdout.trim();
}

interface Node {
  readonly port: number;
  readonly running: Running;
}

async function startNode(more: Record<string, string> = {}): Promise<Node> {
  const port = await freePort();
  const isEmbedded = settings.DATABASE_URL === undefined;
  const running = spawnRunning(
    `${release}/bin/signalpost`,
    isEmbedded ? ['start'] : ['serve', '--processes', '1'],
    { ...settings, PORT: String(port), PUBLIC_URL: `https://localhost:${port}`, ...more },
  );
  await running.printed(isEmbedded ? /Service\s+https:/ : /running at/);
  return { port, running };
}

async function stopNode({ running }: Node): Promise<void> {
  running.child.kill('SIGTERM');
  assert.equal(await running.exit, 0, running.output.stderr);
}

/** Puts the files in place one after the other, as an ACME client does. */
function install(certificate: TestCertificate): string {
  for (const name of ['key', 'cert'] as const) {
    writeFileSync(`${tls[name]}.new`, certificate[name], { mode: 0o600 });
    renameSync(`${tls[name]}.new`, tls[name]);
  }
  return new X509Certificate(certificate.cert).serialNumber;
}

async function servedSerial(port: number): Promise<string> {
  const socket = connect({ port, host: 'localhost', servername: 'localhost', ca: authority.ca });
  await once(socket, 'secureConnect');
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

let apiKey = '';
/** Names of messages that got a 200. */
const accepted = new Set<string>();
let refused = 0;
let number = 0;

/** Sends one message. @returns the status; 0 without a response */
async function send({ port }: Node): Promise<number> {
  number += 1;
  const name = `m${number}`;
  const body = JSON.stringify({
    envelope: { toAddress: `${name}@customer.test` },
    content: { personalizationDataMap: { Name: name } },
    actions: { trackOpens: false, trackClicks: false },
  });
  const status = await new Promise<number>((resolve) => {
    const call = request(
      {
        ...{ host: 'localhost', port, method: 'POST', path: '/ete/v1/email/shop/hello' },
        ca: authority.ca,
        agent: false,
        headers: {
          authorization: `Bearer ${apiKey}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        },
      },
      (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode ?? 0));
      },
    );
    call.once('error', () => resolve(0));
    call.end(body);
  });
  if (status === 200) accepted.add(name);
  else refused += 1;
  return status;
}

async function sendAll(node: Node, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += 1) assert.equal(await send(node), 200);
}

/** How often each message arrived. */
function copies(): Map<string, number> {
  const found = new Map<string, number>();
  for (const { to } of sink.mails) {
    const name = to[0]?.split('@')[0] ?? '';
    found.set(name, (found.get(name) ?? 0) + 1);
  }
  return found;
}

const allArrived = () =>
  waitFor(
    'every message',
    () => {
      const found = copies();
      return [...accepted].every((name) => found.has(name));
    },
    120_000,
  );

/** Sends to all nodes while something is done to them. @returns the statuses other than 200 */
async function sendDuring(nodes: readonly Node[], work: () => Promise<void>): Promise<number[]> {
  let going = true;
  const others: number[] = [];
  const callers = nodes.map(async (node) => {
    while (going) {
      const status = await send(node);
      if (status !== 200) others.push(status);
      await delay(20);
    }
  });
  try {
    await work();
  } finally {
    going = false;
    await Promise.all(callers);
  }
  return others;
}

test('thirty days of an installation, from the first start to a failed database server, lose no message and repeat none', {
  skip: installed === undefined && 'a shallow clone has no release before',
}, async (t) => {
  const diary = (day: number, what: string): void => {
    t.diagnostic(`day ${day}: ${what}; ${accepted.size} messages accepted, ${refused} refused`);
  };
  install(authority.issue(['localhost']));

  let node = await startNode();
  await command('apply', manifest);
  apiKey = await command('key', 'create', 'shop', '--name', 'shop', '--scope', 'messages:send');
  await sendAll(node, 50);
  await allArrived();
  diary(1, 'installed, configured, sent');

  const { 1: recipient = '' } =
    /BACKUP_RECIPIENT=(age1\w+)/.exec(await command('backup', 'create-key', identity)) ?? [];
  Object.assign(settings, {
    BACKUP_TO: backups,
    BACKUP_RECIPIENT: recipient,
    BACKUP_EVERY: '30s',
  });
  await stopNode(node);
  node = await startNode();
  await waitFor('the base backup', async () => (await listBackups()).length > 0, 60_000);
  await sendAll(node, 50);
  await allArrived();
  await command('backup', 'verify', backups, '--identity', identity);
  diary(5, 'backs up');

  release = upgraded;
  assert.match(await command('migrate', '--plan'), /up to date|migrations to run/);
  await stopNode(node);
  node = await startNode();
  await sendAll(node, 50);
  await allArrived();
  diary(10, 'upgraded');

  await command('queue', 'pause', 'shop');
  await sendAll(node, 20);
  const last = join(folder, 'last-backup');
  await command('backup', last);
  node.running.child.kill('SIGKILL');
  await node.running.exit;
  await rm(dataDir, { recursive: true, force: true, maxRetries: 20 });
  const restored = await command('restore', last, '--identity', identity);
  assert.match(restored, /20 held/);
  node = await startNode();
  await command('queue', 'retry', 'shop');
  await command('queue', 'resume', 'shop');
  await allArrived();
  await sendAll(node, 50);
  await allArrived();
  diary(14, 'lost the disk and restored');

  const { primary, standby } = await startPostgresPair();
  await primary.query("create role signalpost_service login password 'secret'");
  await primary.query('create database mail owner signalpost_service');
  await stopNode(node);
  const hosts = `${primary.host},${standby.host}`;
  const onPair = (where: string) => `postgres://signalpost_service:secret@${where}/mail`;
  assert.match(await command('move', '--to', onPair(primary.host)), /both are the same/);
  for (const name of ['BACKUP_TO', 'BACKUP_RECIPIENT', 'BACKUP_EVERY']) delete settings[name];
  const oldKey = readFileSync(join(dataDir, 'signalpost.key'), 'utf8').trim();
  Object.assign(settings, { DATABASE_URL: onPair(hosts), SIGNALPOST_KEY: oldKey });
  node = await startNode();
  await sendAll(node, 50);
  await allArrived();
  diary(18, 'moved to a PostgreSQL of its own, with a standby');

  const nodes = [node, await startNode({ DATA_DIR: join(folder, 'second') })];
  for (const each of nodes) await sendAll(each, 50);
  await allArrived();
  diary(21, 'added a node');

  const during = await sendDuring(nodes, async () => {
    await delay(1_000);
    await primary.crash();
    await standby.query('select pg_promote()');
    for (const each of nodes)
      await waitFor('the node to accept again', async () => (await send(each)) === 200, 60_000);
    await delay(1_000);
  });
  assert.ok(
    during.every((status) => status === 503 || status === 0),
    String(during),
  );
  await allArrived();
  diary(24, 'failed over to the standby');

  const { 1: newKey = '' } =
    /SIGNALPOST_KEY=(\S+)/.exec(await command('key', 'rotate-master')) ?? [];
  assert.equal(Buffer.from(newKey, 'base64').length, 32);
  Object.assign(settings, { SIGNALPOST_KEY: newKey, SIGNALPOST_KEY_PREVIOUS: oldKey });
  for (const [index, each] of nodes.entries()) {
    await stopNode(each);
    nodes[index] = await startNode(index === 0 ? {} : { DATA_DIR: join(folder, 'second') });
  }
  await command('key', 'rotate-master');
  await command('key', 'rotate-master', '--finish', '--yes');
  delete settings.SIGNALPOST_KEY_PREVIOUS;
  for (const [index, each] of nodes.entries()) {
    await stopNode(each);
    nodes[index] = await startNode(index === 0 ? {} : { DATA_DIR: join(folder, 'second') });
  }
  const listed = JSON.parse((await command('key', 'list', 'shop', '--json')).split('\n')[0] ?? '');
  apiKey = await command('key', 'rotate', 'shop', listed.id, '--overlap-hours', '0');
  for (const each of nodes) await sendAll(each, 50);
  await allArrived();
  diary(27, 'rotated the master key and an API key');

  let serial = '';
  const refusedDuring = await sendDuring(nodes, async () => {
    serial = install(authority.issue(['localhost']));
    for (const { port } of nodes)
      await waitFor(
        'the new certificate',
        async () => (await servedSerial(port)) === serial,
        60_000,
      );
  });
  assert.deepEqual(refusedDuring, []);
  diary(29, 'replaced the certificate');

  await allArrived();
  assert.deepEqual(
    [...copies()].filter(([, count]) => count !== 1),
    [],
    'each message once',
  );
  const unasked = [...copies().keys()].filter((name) => !accepted.has(name));
  // A request that got no response may have been accepted.
  assert.ok(unasked.length <= refused, String(unasked));
  for (const each of nodes) await stopNode(each);
  diary(30, 'every message arrived once');
});

async function listBackups(): Promise<string[]> {
  const { exit, output } = spawnRunning(
    `${release}/bin/signalpost`,
    ['backup', 'list', backups, '--json'],
    settings,
  );
  return (await exit) === 0 ? output.stdout.trim().split('\n').filter(Boolean) : [];
}
