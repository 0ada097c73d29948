import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { Registry } from 'prom-client';
import { migrate } from '../../src/foundation/database/migrate.ts';
import { openDatabase } from '../../src/foundation/database/open-database.ts';
import { ReadReplicas } from '../../src/foundation/database/replica/read-replicas.ts';
import { openSharedPool } from '../../src/foundation/database/shared-pool.ts';
import { createLog } from '../../src/foundation/log.ts';
import { openManagedShop, signInToManagement } from '../../test/support/management-client.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { SendClient } from '../../test/support/send-client.ts';
import { metricsHeaders } from '../../test/support/service-tokens.ts';
import { getToken } from '../../test/support/shop.ts';
import { openGate } from '../../test/support/tcp-gate.ts';
import { startTestService, type TestService } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { startPostgresPair } from '../support/postgres-pair.ts';

const { primary, standby } = await startPostgresPair();
await primary.query('alter system reset synchronous_standby_names');
await primary.query('select pg_reload_conf()');
// As in production: a role of its own, which is no superuser.
await primary.query('create role mail login');
await primary.query('create database mail owner mail');
const databaseUrl = `postgres://mail@${primary.host}/mail`;
const replicaUrl = `postgres://mail@${standby.host}/mail`;
const database = openDatabase({ url: databaseUrl });
after(() => database.close());
await migrate(database);
const gate = await openGate(replicaUrl);
const start = (readUrl: string) =>
  startTestService({ databaseUrl, worker: false, environment: { DATABASE_READ_URL: readUrl } });
const [service, otherNode] = [await start(gate.url), await start(replicaUrl)];
const { shop, owner, path } = await openManagedShop(database, service);
const onOtherNode = await signInToManagement(otherNode, shop.owner.email);
const sender = new SendClient(service, await getToken(service, shop));

async function metric(from: TestService, name: string): Promise<number | undefined> {
  const response = await fetch(`${from.url}/metrics`, { headers: metricsHeaders });
  const line = new RegExp(`^${name.replaceAll(/[{}"]/g, '\\$&')} (\\S+)`, 'm');
  const value = line.exec(await response.text())?.[1];
  return value === undefined ? undefined : Number(value);
}

const readsOf = async (server: 'replica' | 'primary', from = service): Promise<number> =>
  (await metric(from, `signalpost_replica_reads_total{server="${server}"}`)) ?? 0;

async function waitUntilUsed(from: TestService, used: boolean): Promise<void> {
  await waitFor(`the replica to be ${used ? '' : 'un'}used`, async () => {
    const name = (from === service ? gate.url : replicaUrl).replace(/^.*@/, '');
    return (await metric(from, `signalpost_replica_used{replica="${name}"}`)) === (used ? 1 : 0);
  });
}

async function send(): Promise<string> {
  const response = await sender.send();
  assert.equal(response.status, 200, response.text);
  return String(response.body.messageId);
}

async function newestId(client = owner): Promise<string | undefined> {
  const response = await client.get(`${path}/messages?limit=1`);
  assert.equal(response.status, 200, response.text);
  return (response.body.items as { id: string }[])[0]?.id;
}

const period = '?from=2020-01-01&until=2040-01-01';
const report = `/reports${period}`;

/** Runs work, and requires that only the given server ran the reads that replicas may serve. */
async function answeredBy(
  server: 'replica' | 'primary',
  work: () => Promise<unknown>,
): Promise<void> {
  const other = server === 'replica' ? 'primary' : 'replica';
  const before = [await readsOf(server), await readsOf(other)] as const;
  await work();
  assert.ok((await readsOf(server)) > before[0], `the ${server} answered`);
  assert.equal(await readsOf(other), before[1], `the ${other} answered nothing`);
}

test('the message list, reports and exports are read from the replica', async () => {
  await waitUntilUsed(service, true);
  const id = await send();
  await waitFor('the replica to have it', async () => {
    const [row] = await standby.query<{ found: boolean }>(
      'select exists (select from message where id = $1) as found',
      [id],
      'mail',
    );
    return row?.found;
  });
  for (const read of [
    '/messages',
    '/messages?state=queued',
    '/messages-export',
    report,
    `/reports-export${period}`,
  ])
    await answeredBy('replica', async () => {
      const response = await owner.get(`${path}${read}`);
      assert.equal(response.status, 200, response.text);
      if (!read.startsWith('/rep')) assert.match(response.text, new RegExp(id));
    });
  assert.ok(((await metric(service, lagName)) ?? 60) < 10);
});

const lagName = `signalpost_replica_lag_seconds{replica="${gate.url.replace(/^.*@/, '')}"}`;

test('what was just accepted by one node is in the list of every node', async () => {
  await waitUntilUsed(otherNode, true);
  for (let round = 0; round < 20; round += 1) {
    const id = await send();
    assert.equal(await newestId(onOtherNode), id);
    assert.equal(await newestId(), id);
  }
  assert.ok((await readsOf('replica', otherNode)) > 0);
});

test('while replay is paused, lists come from the primary, and reports do once the bound is reached', async () => {
  await standby.query('select pg_wal_replay_pause()');
  const id = await send();
  await answeredBy('primary', async () => assert.equal(await newestId(), id));
  await answeredBy('replica', () => owner.get(`${path}${report}`));
  await waitUntilUsed(service, false);
  assert.ok(((await metric(service, lagName)) ?? 0) > 10);
  await answeredBy('primary', () => owner.get(`${path}${report}`));
  await standby.query('select pg_wal_replay_resume()');
  await waitUntilUsed(service, true);
  await answeredBy('replica', async () => assert.equal(await newestId(), id));
});

test('a replica that hangs in the middle of a read is replaced by the primary', async () => {
  const id = await send();
  assert.equal(await newestId(), id);
  gate.hold();
  assert.equal(await newestId(), id);
  await waitUntilUsed(service, false);
  await answeredBy('primary', async () => assert.equal(await newestId(), id));
  gate.open();
  await waitUntilUsed(service, true);
});

test('no read fails while the replica is killed and comes back', async () => {
  let reads = 0;
  let failed = 0;
  let running = true;
  const reading = Promise.all(
    [owner, onOtherNode].map(async (client) => {
      while (running) {
        const responses = [
          await client.get(`${path}/messages`),
          await client.get(`${path}${report}`),
        ];
        reads += responses.length;
        failed += responses.filter(({ status }) => status !== 200).length;
      }
    }),
  );
  await standby.crash();
  await waitUntilUsed(service, false);
  await waitUntilUsed(otherNode, false);
  const id = await send();
  assert.equal(await newestId(), id);
  await standby.start();
  await waitUntilUsed(service, true);
  await waitUntilUsed(otherNode, true);
  running = false;
  await reading;
  assert.ok(reads > 0);
  assert.equal(failed, 0, `${failed} of ${reads} failed`);
});

test('a transaction of a read runs on the primary', async () => {
  const primaryPool = openSharedPool(database, 2);
  const replicas = new ReadReplicas({
    url: replicaUrl,
    primary: database,
    primaryPool,
    connections: 2,
    log: createLog('silent'),
    metrics: new Registry(),
  });
  replicas.start();
  try {
    const isStandby = sql<{ standby: boolean }>`select pg_is_in_recovery() as standby`;
    await waitFor('the replica to answer', async () => {
      const { rows } = await isStandby.execute(replicas.forRead('1', 'recent').kysely);
      return rows[0]?.standby;
    });
    const reads = replicas.forRead('1', 'current');
    await reads.kysely.transaction().execute(async (transaction) => {
      assert.deepEqual((await isStandby.execute(transaction)).rows, [{ standby: false }]);
    });
  } finally {
    await replicas.close();
    await primaryPool.close();
  }
});

async function doctorSays(readUrl: string): Promise<string> {
  const running = runSignalpost(['doctor'], {
    DATABASE_URL: databaseUrl,
    DATABASE_READ_URL: readUrl,
    SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
  });
  await running.exit;
  const { stdout } = running.output;
  return /^.*replicas [\s\S]*?(?=\n(?:ok|FAIL)|$)/m.exec(stdout)?.[0] ?? stdout;
}

test('a server that isn’t a replica of this database is never asked', async () => {
  await primary.query('create database other');
  const [isPrimary, isOther] = [
    await start(databaseUrl),
    await start(`postgres://mail@${standby.host}/other`),
  ];
  for (const node of [isPrimary, isOther]) {
    const client = await signInToManagement(node, shop.owner.email);
    const id = await send();
    assert.equal(await newestId(client), id);
    assert.equal(await readsOf('replica', node), 0);
  }
  assert.match(
    await doctorSays(replicaUrl),
    /^ok {3}replicas {2}127\.0\.0\.1:\d+\/mail is \d+\.\d s behind/,
  );
  assert.match(
    await doctorSays(databaseUrl),
    /^FAIL replicas .* isn’t used: it isn’t a replica: it accepts writes/,
  );
  assert.match(
    await doctorSays(`postgres://mail@${standby.host}/other`),
    /^FAIL replicas .* isn’t used: it is a replica of another database/,
  );
  assert.match(
    await doctorSays('postgres://mail@127.0.0.1:1/mail'),
    /^FAIL replicas .* doesn’t respond/,
  );
});

test('a replica that was promoted is never asked', async () => {
  await standby.query('select pg_promote()');
  await waitUntilUsed(service, false);
  const id = await send();
  await answeredBy('primary', async () => assert.equal(await newestId(), id));
});
