import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type pg from 'pg';
import { ChangeListener } from '../../src/base/database/change-listener.ts';
import { splitDatabaseUrl } from '../../src/base/database/database-url.ts';
import {
  describeServer,
  openDatabase,
  requireServer,
} from '../../src/base/database/open-database.ts';
import type { ServiceClient } from '../../src/base/database/service-client.ts';
import { isUnavailable } from '../../src/base/database/sqlstate.ts';
import { createLog } from '../../src/base/values/log.ts';
import { openGate } from '../support/tcp-gate.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { waitFor } from '../support/wait-for.ts';

const { url } = await createTestDatabase();

/** The URL of several gates. */
function urlOf(gates: readonly { readonly url: string }[], parameters = ''): string {
  const hosts = gates.map((gate) => new URL(gate.url).host).join(',');
  const [first] = gates;
  const { username, password, pathname } = new URL(first?.url ?? '');
  return `postgres://${username}:${password}@${hosts}${pathname}${parameters}`;
}

test('a database URL names several hosts in the ways of libpq', () => {
  for (const [given, split] of [
    ['postgres://u:p@db.test/mail', ['postgres://u:p@db.test/mail']],
    [
      'postgresql://u:p@a.test:5433,[::1]:5434,c.test/mail?sslmode=require',
      [
        'postgresql://u:p@a.test:5433/mail?sslmode=require',
        'postgresql://u:p@[::1]:5434/mail?sslmode=require',
        'postgresql://u:p@c.test/mail?sslmode=require',
      ],
    ],
    [
      'postgres://u:p@a.test,b.test/mail?target_session_attrs=read-write&options=-c%20geqo%3Doff',
      [
        'postgres://u:p@a.test/mail?options=-c+geqo%3Doff',
        'postgres://u:p@b.test/mail?options=-c+geqo%3Doff',
      ],
    ],
    [
      'postgres:///mail?host=/run/a,/run/b&port=5432,5433',
      ['postgres:///mail?host=%2Frun%2Fa&port=5432', 'postgres:///mail?host=%2Frun%2Fb&port=5433'],
    ],
  ] as const)
    assert.deepEqual(splitDatabaseUrl(given), split);
  assert.equal(
    describeServer({ url: 'postgres://u:secret@a.test:1,b.test/mail' }),
    'a.test:1,b.test/mail',
  );
  for (const [given, message] of [
    ['mysql://u@a.test/mail', /must look like postgres:/],
    ['postgres://u@a.test:x,b.test/mail', /must look like postgres:/],
    ['postgres://u@a.test/mail?target_session_attrs=standby', /target_session_attrs=read-write/],
    ['postgres:///mail?host=/a,/b&port=1,2,3', /one port for all hosts/],
  ] as const)
    assert.throws(() => splitDatabaseUrl(given), { name: 'OperatorError', message });
});

test('connections go to the host that accepts writes, and the error names each that doesn’t', async () => {
  const [first, second] = [await openGate(url), await openGate(url)];
  first.close();
  const database = openDatabase({ url: urlOf([first, second]) });
  after(() => database.close());
  await requireServer(database);
  second.close();
  await waitFor('the loss to be noticed', () => database.pool.totalCount === 0);
  await assert.rejects(database.pool.query('select 1'), (error: Error) => {
    assert.match(
      error.message,
      /^no host accepts writes \(127\.0\.0\.1:\d+: .*; 127\.0\.0\.1:\d+: /,
    );
    return isUnavailable(error);
  });
  first.open();
  await waitFor('the other host', () =>
    database.pool.query('select 1').then(
      () => true,
      () => false,
    ),
  );
});

test('if a host vanishes without a word, statements in progress, pools and notifications move to another', async () => {
  const [first, second] = [await openGate(url), await openGate(url)];
  second.close();
  const settings = { url: urlOf([first, second], '?target_session_attrs=read-write') };
  const database = openDatabase(settings);
  const changes = new ChangeListener(settings, createLog('silent'));
  after(() => Promise.all([database.close(), changes.close()]));
  await changes.start();
  const announced: string[] = [];
  changes.subscribe('test', (key) => announced.push(key));
  await database.pool.query('select 1');
  first.hold();
  const interrupted = database.pool.query('select 1').catch((error: unknown) => error);
  second.open();
  // Long before the statement's own timeout of a minute.
  assert.ok(isUnavailable(await interrupted));
  await waitFor('the listener', () => changes.isReliable());
  await database.pool.query("select pg_notify('signalpost_change', 'test:moved')");
  await waitFor('the notification', () => announced.includes('moved'));
  assert.equal(first.blockedCount > 0, true);
});

test('a statement without a response moves to another host automatically; a slow one stays where it is', async () => {
  const gates = [await openGate(url), await openGate(url)] as const;
  const database = openDatabase({ url: urlOf(gates) });
  after(() => database.close());
  const { rows } = await database.pool.query<{ slow: string }>(
    "select 'kept' as slow from pg_sleep(2.5)",
  );
  assert.equal(rows[0]?.slow, 'kept');
  for (const gate of gates) {
    gate.hold();
    // Whichever host it was, the other one is open.
    const interrupted = await database.pool.query('select 1').catch((error: unknown) => error);
    const isAnswered = !(interrupted instanceof Error);
    assert.ok(isAnswered || /terminated/.test(interrupted.message), String(interrupted));
    gate.open();
  }
  assert.ok(gates.some(({ blockedCount }) => blockedCount > 0));
});

test('the search for a primary goes on while idle connections hang, without another statement', async () => {
  const [first, second] = [await openGate(url), await openGate(url)];
  second.close();
  const database = openDatabase({ url: urlOf([first, second]) });
  after(() => database.close());
  const client = (await database.pool.connect()) as pg.PoolClient & ServiceClient;
  client.release();
  first.hold();
  client.suspectServer();
  await waitFor('a second search', () => first.blockedCount >= 2);
  second.open();
  await waitFor('the connection to be dropped', () => database.pool.totalCount === 0);
});
