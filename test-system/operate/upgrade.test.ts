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

interface ServeOptions {
  /** Undefined: all. */
  readonly role?: string;
  /** Where the relay listens. */
  readonly relay?: number;
}

async function serve(
  program: string,
  { role, relay = sink.port }: ServeOptions = {},
): Promise<Release> {
  const port = await freePort();
  const roles = role === undefined ? [] : ['--role', role];
  const running = spawnRunning(program, ['serve', '--processes', '1', ...roles], {
    ...settings,
    SMTP_URL: `smtp://127.0.0.1:${relay}`,
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
async function send(
  release: Release,
  key: string,
  name: string,
  ccAddressList: readonly string[] = [],
): Promise<number> {
  const response = await fetch(`${release.url}/ete/v1/email/shop/hello`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      envelope: { toAddress: `${name}@customer.test`, ccAddressList },
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

test('mail to several recipients that waits while the release changes, and changes back, reaches each of them once', {
  skip,
}, async () => {
  await database.pool.query('drop schema signalpost cascade');
  const key = await prepare();
  /** Recipients that are refused for now. */
  const busy = new Set(['later@customer.test', 'last@customer.test']);
  const dot = Promise.withResolvers<void>();
  let isHeld = false;
  const relay = await startSink({
    onRcpt: (address) => (busy.has(address) ? '450 4.2.1 Busy' : undefined),
    onMessage: async ({ to }) => {
      // The old release has one transaction for both recipients of this message.
      if (!to.includes('dot@customer.test') || isHeld) return undefined;
      isHeld = true;
      dot.resolve();
      await killed.promise;
      return '451 4.3.0 Nobody listens any more';
    },
  });
  const killed = Promise.withResolvers<void>();
  const options = { relay: relay.port };
  const arrived = (address: string) =>
    waitFor(
      `mail to ${address}`,
      () => relay.mails.some(({ to }) => to.includes(`${address}@customer.test`)),
      90_000,
    );
  const isWaiting = async (table: string, recipients: string): Promise<boolean> => {
    const { rowCount } = await database.pool.query(
      `select from ${table} where ${recipients} and lease_owner is null and reason like '%Busy%'`,
    );
    return rowCount === 1;
  };
  const sendTo = async (release: Release, to: string, cc: string): Promise<void> =>
    assert.equal(await send(release, key, to, [`${cc}@customer.test`]), 200);

  // It accepts all the time, and keeps the schema of the old release.
  const door = await serve(`${old}/bin/signalpost`, { ...options, role: 'http' });
  const before = await serve(`${old}/bin/signalpost`, options);
  await sendTo(before, 'a', 'later');
  await sendTo(before, 'b', 'dot');
  await dot.promise;
  await waitFor('the retry', () => isWaiting('queue_entry', "pending = '{1}'"));
  before.running.child.kill('SIGKILL');
  await before.running.exit;
  killed.resolve();

  const after = await serve(join(root, 'bin/signalpost'), options);
  await sendTo(door, 'c', 'd');
  await sendTo(after, 'e', 'last');
  for (const address of ['c', 'd', 'e']) await arrived(address);
  busy.delete('later@customer.test');
  await waitFor(
    'mail to later',
    async () => {
      await database.pool.query(
        "update queued_delivery set due_at = now() where reason like '%Busy%' and due_at > now() and lease_owner is null",
      );
      return relay.mails.some(({ to }) => to.includes('later@customer.test'));
    },
    90_000,
  );
  // Its lease ends first.
  await arrived('b');
  await arrived('dot');
  await waitFor('the other retry', () => isWaiting('queued_delivery', 'recipient = 1'));
  after.running.child.kill('SIGTERM');
  assert.equal(await after.running.exit, 0);

  const again = await serve(`${old}/bin/signalpost`, options);
  await waitFor('the way back', () => isWaiting('queue_entry', "pending = '{1}'"), 60_000);
  busy.clear();
  await database.pool.query('update queue_entry set due_at = now() where lease_owner is null');
  await arrived('last');
  for (const { running } of [again, door]) {
    running.child.kill('SIGTERM');
    assert.equal(await running.exit, 0);
  }
  assert.deepEqual(
    relay.mails.flatMap(({ to }) => to.map((address) => address.split('@')[0])).sort(),
    ['a', 'b', 'c', 'd', 'dot', 'e', 'last', 'later'],
    'each recipient once',
  );
  const { rows } = await database.pool.query(
    `select m.content ->> 'to' as to, e.recipient from message_event e join message m on m.id = e.message_id
     where e.kind = 'uncertain' order by 2`,
  );
  assert.deepEqual(rows, [
    { to: 'b@customer.test', recipient: 0 },
    { to: 'b@customer.test', recipient: 1 },
  ]);
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
