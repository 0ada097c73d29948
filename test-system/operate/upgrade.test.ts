import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startSink } from '../../test/support/mail-sink.ts';
import { type Running, runSignalpost, spawnRunning } from '../../test/support/run-signalpost.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { freePort } from '../support/free-port.ts';
import { unpackReleaseBefore } from '../support/release-before.ts';
import { writeShopManifest } from '../support/shop-manifest.ts';

const root = join(import.meta.dirname, '../..');
const folder = temporaryFolder();
const old = unpackReleaseBefore(folder);
const skip = old === undefined && 'a shallow clone has no release before';

const { url, database } = await createTestDatabase();
await database.pool.query('drop schema signalpost cascade');
const sink = await startSink();
const settings = {
  DATABASE_URL: url,
  DATA_DIR: join(folder, 'data'),
  SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
  DELIVERY: 'relay',
  SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
  DRAIN_SECONDS: '1',
  LOG_LEVEL: 'error',
};

function runOld(...args: string[]): Running {
  return spawnRunning(`${old}/bin/signalpost`, args, settings);
}

async function output(running: Running): Promise<string> {
  assert.equal(await running.exit, 0, running.output.stderr);
  return running.output.stdout.trim();
}

interface Release {
  readonly url: string;
  readonly running: Running;
}

async function serve(program: string): Promise<Release> {
  const port = await freePort();
  const running = spawnRunning(program, ['serve', '--processes', '1'], {
    ...settings,
    PORT: String(port),
  });
  await running.printed(/(?:answers|running) at/);
  return { running, url: `http://127.0.0.1:${port}` };
}

const manifest = writeShopManifest(folder);

/** A database of the old release with a template. @returns an API key */
async function prepare(): Promise<string> {
  await output(runOld('migrate'));
  await output(runOld('apply', manifest));
  return output(runOld('key', 'create', 'shop', '--name', 'test', '--scope', 'messages:send'));
}

/** Sends one message. @returns the status */
async function send(release: Release, key: string, name: string): Promise<number> {
  const response = await fetch(`${release.url}/ete/v1/email/shop/hello`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      envelope: { toAddress: `${name}@customer.test` },
      content: { personalizationDataMap: { Name: name } },
      actions: { trackOpens: false, trackClicks: false },
    }),
  });
  await response.arrayBuffer();
  return response.status;
}

test('processes of both releases accept and deliver beside each other, while the new one migrates and the old one leaves', {
  skip,
}, async () => {
  const key = await prepare();
  const before = await serve(`${old}/bin/signalpost`);
  const nodes = new Set([before]);
  const sent = new Map<string, number>();
  const statuses = new Map<number, number>();
  let going = true;
  let count = 0;
  const callers = Array.from({ length: 4 }, async () => {
    while (going) {
      for (const node of nodes) {
        const name = `n${count++}`;
        const status = await send(node, key, name);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status === 200) sent.set(name, 0);
      }
    }
  });
  const progress = async (): Promise<void> => {
    const from = count;
    await waitFor('200 messages', () => count > from + 200);
  };
  try {
    await progress();
    const after = await serve(join(root, 'bin/signalpost'));
    nodes.add(after);
    await progress();
    for (const node of nodes) assert.equal((await fetch(`${node.url}/readyz`)).status, 200);
    // A process of the old release can also start on the schema of the new one.
    const again = await serve(`${old}/bin/signalpost`);
    nodes.add(again);
    await progress();
    for (const node of [before, again]) {
      nodes.delete(node);
      await progress();
      node.running.child.kill('SIGTERM');
      assert.equal(await node.running.exit, 0);
    }
    await progress();
  } finally {
    going = false;
    await Promise.all(callers);
  }
  assert.deepEqual([...statuses.keys()], [200]);
  await waitFor('every message', () => sink.mails.length >= sent.size, 60_000);
  for (const { to } of sink.mails) {
    const name = to[0]?.split('@')[0] ?? '';
    sent.set(name, (sent.get(name) ?? 0) + 1);
  }
  assert.deepEqual(
    [...sent].filter(([, copies]) => copies !== 1),
    [],
    'each message once',
  );
});

test('a database of the old release gets a plan of what the new one changes', {
  skip,
}, async () => {
  await database.pool.query('drop schema signalpost cascade');
  await output(runOld('migrate'));
  const plan = await output(runSignalpost(['migrate', '--plan'], settings));
  assert.match(plan, /^(?:The database is up to date|\d+ migrations to run:)/);
  assert.doesNotMatch(plan, /Stop every process/);
});
