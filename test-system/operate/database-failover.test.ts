import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { findDatabaseProblems } from '../../src/base/database/find-database-problems.ts';
import { migrate } from '../../src/base/database/migrate.ts';
import { openDatabase, requireServer } from '../../src/base/database/open-database.ts';
import { AcceptStore } from '../../src/sending/submission/accept-store.ts';
import { makeAcceptRow } from '../../test/support/accept-row.ts';
import { SendClient } from '../../test/support/send-client.ts';
import { getToken, openShop, saveShop } from '../../test/support/shop.ts';
import { openGate } from '../../test/support/tcp-gate.ts';
import { startTestService } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { startPostgresPair } from '../support/postgres-pair.ts';

const { primary, standby } = await startPostgresPair();
const databaseUrl = `postgres://postgres@${primary.host}/postgres`;
const database = openDatabase({ url: databaseUrl });
after(() => database.close());
await migrate(database);
const shop = await openShop(database);
const options = { databaseUrl, worker: false } as const;
const [service, otherNode] = [await startTestService(options), await startTestService(options)];
const client = new SendClient(service, await getToken(service, shop));
const otherClient = new SendClient(otherNode, await getToken(service, shop));
const store = new AcceptStore({ url: databaseUrl }, 1);
after(() => store.close());

/** Messages that only the standby's promotion would show to be safe. */
const countOnStandby = async (): Promise<number> => {
  const [row] = await standby.query<{ count: number }>(
    'select count(*)::int as count from message',
  );
  return row?.count ?? 0;
};

/** Records the statuses of the responses. */
class Answers {
  readonly statuses: number[] = [];

  add(response: Promise<{ readonly status: number }>): Promise<number> {
    return response.then(({ status }) => {
      this.statuses.push(status);
      return status;
    });
  }
}

test('the risks of the servers’ replication are named', async () => {
  const findings = async (): Promise<string> =>
    (await findDatabaseProblems(database.pool)).map(({ finding }) => finding).join('\n');
  assert.match(await findings(), /^fsync is off/);
  assert.match(await findings(), /if the only synchronous standby fails, nothing is accepted/);
  await primary.query('alter system reset synchronous_standby_names');
  await primary.query('select pg_reload_conf()');
  await waitFor('asynchronous replication to be named', async () =>
    /standby replicates asynchronously: a failover can lose accepted messages/.test(
      await findings(),
    ),
  );
  await primary.query("alter system set synchronous_standby_names = 'ANY 1 (standby, other)'");
  await primary.query('select pg_reload_conf()');
  await waitFor('the standby to be synchronous', async () =>
    (await findings()).includes('only synchronous standby'),
  );
  await standby.crash();
  await waitFor('the lack of a standby to be named', async () =>
    (await findings()).includes('0 are connected, so nothing is accepted'),
  );
  await standby.start();
  const wrong = openDatabase({ url: `postgres://postgres@${standby.host}/postgres` });
  await assert.rejects(requireServer(wrong), /is a standby, which accepts no writes/);
  await wrong.close();
});

test('no 200 rests on a commit that the primary recovered and its standby never got', async () => {
  const responses = new Answers();
  const keyed = { headers: { 'idempotency-key': 'order-1' } };
  const row = makeAcceptRow();
  await standby.crash();
  const interrupted = responses.add(client.send(keyed));
  const accepting = store.insert([row]).catch((error: unknown) => error);
  await waitFor('both commits to wait for the standby', async () => {
    const waiting = await primary.findStandbyWaiters('insert into message');
    return waiting.length === 2;
  });
  await primary.crash();
  await primary.start();
  assert.ok((await accepting) instanceof Error);
  const [visible] = await primary.query<{ count: number }>(
    'select count(*)::int as count from message',
  );
  assert.equal(visible?.count, 2, 'the primary shows what its standby never got');

  const replayed = responses.add(otherClient.send(keyed));
  const repeated = store.insert([row], true).catch((error: unknown) => error);
  for (const part of ['from message where', 'from idempotency_key', 'on conflict do nothing'])
    await waitFor(
      `an answer or a wait for ${part}`,
      async () =>
        responses.statuses.includes(200) || (await primary.findStandbyWaiters(part)).length > 0,
    );
  assert.ok(!responses.statuses.includes(200), 'a 200 for a message that can be lost');

  await standby.start();
  const statuses = await Promise.all([interrupted, replayed]);
  await repeated;
  // On a slow machine, the requests gave up waiting.
  assert.ok(
    statuses.every((status) => status === 200 || status === 503),
    String(statuses),
  );
  assert.equal((await client.send(keyed)).status, 200);
  assert.deepEqual(await store.insert([row], true), [{ kind: 'accepted' }]);
  await waitFor('the standby to have all', async () => (await countOnStandby()) >= 2);
});

test('a canceled wait for the standby, which PostgreSQL reports as success, is none', async () => {
  const responses = new Answers();
  await standby.crash();
  const sent = responses.add(client.send());
  const pid = await waitFor('the commit to wait for the standby', async () => {
    const [waiting] = await primary.findStandbyWaiters('insert into message');
    return waiting;
  });
  await primary.query('select pg_cancel_backend($1)', [pid]);
  await waitFor(
    'an answer or another wait',
    async () =>
      responses.statuses.length > 0 ||
      (await primary.findStandbyWaiters('from message where')).length > 0,
  );
  assert.ok(!responses.statuses.includes(200), 'a 200 for a message that can be lost');
  await standby.start();
  assert.ok([200, 503].includes(await sent));
});

test('if the primary’s host vanishes, a node with both hosts accepts again once the standby is promoted', async () => {
  const gate = await openGate(databaseUrl);
  const hosts = `${new URL(gate.url).host},${standby.host}`;
  const node = await startTestService({
    databaseUrl: `postgres://postgres@${hosts}/postgres?target_session_attrs=read-write`,
    worker: false,
  });
  const sender = new SendClient(node, await getToken(node, shop));
  assert.equal((await sender.send()).status, 200);
  const stored = await countOnStandby();
  gate.hold();
  await primary.crash();
  await standby.query('select pg_promote()');
  await waitFor('a message to be accepted', async () => (await sender.send()).status === 200);
  assert.ok((await countOnStandby()) > stored);

  const promoted = openDatabase({ url: `postgres://postgres@${standby.host}/postgres` });
  await saveShop(promoted, { suspended: true });
  await promoted.close();
  await waitFor('the node to hear of a change', async () => (await sender.send()).status !== 200);
});
