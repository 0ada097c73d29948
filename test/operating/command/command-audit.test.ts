import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../../src/base/values/ids.ts';
import { ShapingStore } from '../../../src/sending/delivery/shaping/shaping-store.ts';
import { DeliveryWorld } from '../../support/delivery-world.ts';
import { runInProcess } from '../../support/run-command.ts';
import { SessionWorld } from '../../support/session-world.ts';

const world = await DeliveryWorld.create();
const { database } = world;
const sessions = new SessionWorld(database);
await sessions.addAccount();
const environment = {
  DATABASE_URL: world.url,
  SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
  SMTP_HOSTNAME: 'mail.sender.test',
  PUBLIC_URL: 'https://links.sender.test',
  DELIVERY: 'direct',
  DIRECT_SOURCES: 'slow/127.0.0.2=out1.sender.test',
};

function run(command: string) {
  return runInProcess(command.split(' '), environment);
}

interface Entry {
  readonly kind: string;
  readonly account_id: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Returns the audit log entries of commands and deletes them. */
async function takeEntries(): Promise<Entry[]> {
  const { rows } = await database.pool.query<Entry>(
    `with taken as (delete from audit_event where remote_address = 'command line' and outcome = 'success'
       returning id, kind, account_id, detail)
     select kind, account_id, detail from taken order by id`,
  );
  return rows;
}

async function assertRecorded(command: string, ...entries: Entry[]): Promise<void> {
  const { code, err } = await run(command);
  assert.equal(code, 0, `${command}: ${err}`);
  assert.deepEqual(await takeEntries(), entries, command);
}

test('commands on a domain are recorded in the audit log of its account', async () => {
  const entryOf = (kind: string, change?: { name: string; from: unknown; to: unknown }): Entry => ({
    kind,
    account_id: 'a1',
    detail: {
      id: 'shop.test',
      ...(change !== undefined && { changed: change.name, changes: [change] }),
    },
  });
  await assertRecorded('domain add a1 shop.test', entryOf('domain_created'));
  await assertRecorded('domain rotate a1 shop.test', entryOf('domain_keys_rotated'));
  const { code } = await run('domain warm-up a1 shop.test --goal 200');
  assert.equal(code, 0);
  const today = new Date().toISOString().slice(0, 10);
  const warmUp = { from: today, plan: [50, 71, 100, 141] };
  assert.deepEqual(await takeEntries(), [
    entryOf('domain_changed', { name: 'warmUp', from: null, to: warmUp }),
  ]);
  await assertRecorded(
    'domain pool a1 shop.test slow',
    entryOf('domain_changed', { name: 'sourcePool', from: 'default', to: 'slow' }),
  );
  await assertRecorded(
    'domain tracking a1 shop.test links.shop.test',
    entryOf('domain_changed', { name: 'trackingHost', from: null, to: 'links.shop.test' }),
  );
  await assertRecorded('domain warm-up a1 shop.test --goal 200');
  await assertRecorded('domain pool a1 shop.test slow');
  await assertRecorded('domain tracking a1 shop.test links.shop.test');
  await assertRecorded('domain list a1');
  await assertRecorded('domain show a1 shop.test');
  await assertRecorded('domain remove a1 shop.test', entryOf('domain_removed'));
  assert.equal((await run('domain remove a1 shop.test')).code, 1);
  assert.deepEqual(await takeEntries(), [], 'what did not happen');
});

test('commands on queued messages are recorded in the audit log of their account', async () => {
  const id = await world.accept();
  const entryOf = (kind: string, what: string): Entry => ({
    kind,
    account_id: 'a1',
    detail: { id: what },
  });
  await assertRecorded('queue pause a1', entryOf('pause_created', '*'));
  await assertRecorded('queue pause a1');
  await assertRecorded('queue resume a1', entryOf('pause_removed', '*'));
  await assertRecorded(
    'queue pause a1 --destination people.test',
    entryOf('pause_created', 'people.test'),
  );
  await assertRecorded(`queue pause a1 ${id}`, entryOf('message_pause', id));
  await assertRecorded(
    'queue retry a1 --destination people.test',
    entryOf('queue_retry', 'people.test'),
  );
  await assertRecorded('queue cancel a1', entryOf('queue_cancel', '*'));
});

test('commands on rate limits are recorded in the audit log', async () => {
  const heartbeat = { name: 'google', label: 'Gmail', startRate: 20, startConnections: 40 };
  await new ShapingStore(database, newId(), Date.now).heartbeat([
    { ...heartbeat, demand: 1, sent: 3 },
  ]);
  await assertRecorded('destination set google --rate 5', {
    kind: 'receiver_changed',
    account_id: null,
    detail: { id: 'google' },
  });
  await assertRecorded('source warm-up 127.0.0.2 --goal 200', {
    kind: 'source_changed',
    account_id: null,
    detail: { id: '127.0.0.2', changed: 'warmUp' },
  });
});

test("a change that can't be recorded is not made", async () => {
  const integration = await sessions.addIntegration();
  const person = await sessions.addPerson();
  const changes = [
    `integration set ${integration.clientId} --disabled yes`,
    `integration rotate-secret ${integration.clientId}`,
    `user disable ${person.email}`,
    'source warm-up 127.0.0.2 --off',
    'domain add a1 other.test',
    'queue pause a1',
  ];
  const before = await state();
  await database.pool.query(
    'alter table audit_event add constraint full_disk check (false) not valid',
  );
  for (const change of changes) assert.notEqual((await run(change)).code, 0, change);
  assert.deepEqual(await state(), before);
  await database.pool.query('alter table audit_event drop constraint full_disk');
  for (const change of changes) assert.equal((await run(change)).code, 0, change);
  const after = await state();
  for (const name of Object.keys(before)) assert.notDeepEqual(after[name], before[name], name);
  assert.equal((await takeEntries()).length, changes.length);
});

/** All state that the commands in the test change. */
async function state(): Promise<Record<string, unknown>> {
  const tables = ['integration', 'person', 'source_warm_up', 'sending_domain', 'delivery_pause'];
  const entries = tables.map(async (table) => {
    const { rows } = await database.pool.query(`select * from ${table} order by 1, 2`);
    return [table, rows] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}
