import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import pg from 'pg';
import { outboxSchemaSql } from '../../src/outbox/source/outbox-schema-sql.ts';
import { runInProcess } from '../../test/support/run-command.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { serviceTokens } from '../../test/support/service-tokens.ts';
import { openShop } from '../../test/support/shop.ts';
import { openGate } from '../../test/support/tcp-gate.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { FakeClock } from '../support/fake-clock.ts';

const { database, url: databaseUrl, clock: databaseClock } = await createTestDatabase();
const shop = await openShop(database);
const own = await createTestDatabase();
const gate = await openGate(own.url);
const source = new URL(own.url);
source.searchParams.delete('options');
const app = new pg.Pool({ connectionString: source.href }).on('error', () => undefined);
after(() => app.end());
const environment = {
  DATABASE_URL: databaseUrl,
  PORT: '0',
  LOG_LEVEL: 'error',
  SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
  OUTBOX_NETWORKS: '127.0.0.0/8',
  ...serviceTokens,
};
const table = 'email_outbox';
const rows = 600;

function startReader(variables: Readonly<Record<string, string>> = {}) {
  const args = ['serve', '--processes', '1', '--role', 'outbox'];
  return runSignalpost(args, { ...environment, ...variables });
}

async function count(text: string): Promise<number> {
  const { rows: found } = await database.pool.query<{ count: number }>(text);
  return found[0]?.count ?? 0;
}

/** Waits until no row is without an answer. */
function answers(): Promise<unknown> {
  return waitFor('all answers', async () => {
    const { rowCount } = await app.query(`select from ${table} where status is null`);
    return rowCount === 0;
  });
}

const sentRows = () => count(`select count(*)::int as count from message`);

test('each committed row is sent once and no rolled-back one, although readers are killed with -9', async () => {
  await app.query(outboxSchemaSql({ dialect: 'postgres', table, answers: null }));
  const url = `postgres://${source.username}:${source.password || 'any'}@127.0.0.1:${new URL(gate.url).port}${source.pathname}?sslmode=disable`;
  const added = await runInProcess(
    ['outbox', 'add', shop.id, 'orders', '--table', table, '--rate', '200'],
    environment,
    url,
  );
  assert.equal(added.code, 0, added.err);
  // Every third transaction is rolled back.
  for (let n = 0; n < rows; n += 1) {
    const client = await app.connect();
    await client.query('begin');
    await client.query(
      `insert into ${table} (template, to_address, data) values ('t-0001', $1, '{"Order Number":"1"}')`,
      [`${n % 3 === 0 ? 'lost' : 'kept'}-${n}@people.test`],
    );
    await client.query(n % 3 === 0 ? 'rollback' : 'commit');
    client.release();
  }
  const committed = (rows / 3) * 2;
  for (let kill = 1; kill <= 4; kill += 1) {
    const reader = startReader();
    await reader.printed(/running/i);
    await waitFor(`progress ${kill}`, async () => (await sentRows()) > (kill - 1) * 90);
    reader.child.kill('SIGKILL');
    await reader.exit;
    // As after the 15 seconds of its lease.
    await database.pool.query(`update outbox_source set lease_until = now() - interval '1 second'`);
  }
  const last = startReader();
  await answers();
  last.child.kill('SIGTERM');
  await last.exit;
  assert.equal(await sentRows(), committed);
  const { rows: messages } = await database.pool.query<{ id: string; to: string }>(
    `select id, content->>'to' as to from message`,
  );
  const sent = new Map(messages.map(({ id, to }) => [to, id]));
  assert.equal(sent.size, committed);
  const { rows: answered } = await app.query<{ to_address: string; message_id: string }>(
    `select to_address, message_id from ${table} where status = 'accepted'`,
  );
  assert.equal(answered.length, committed);
  for (const row of answered) assert.equal(row.message_id, sent.get(row.to_address));
});

test('each row is sent once while clocks are set forward and back, also that of the database with the leases', async () => {
  const before = await sentRows();
  const insert = () =>
    app.query(
      `insert into ${table} (template, to_address, data, send_at)
       select 't-0001', 'later-' || n || '@people.test', '{"Order Number":"1"}', now() from generate_series(1, 20) n`,
    );
  const clock = new FakeClock();
  const reader = startReader(clock.environment);
  for (const seconds of [0, 3_600, -3_600]) {
    clock.step(seconds);
    await insert();
    await answers();
  }
  reader.child.kill('SIGKILL');
  await reader.exit;
  await databaseClock.advance(-3_600_000);
  await insert();
  startReader();
  await answers();
  assert.equal(await sentRows(), before + 80);
  const { rowCount } = await app.query(`select from ${table} where status = 'failed'`);
  assert.equal(rowCount, 0);
});
