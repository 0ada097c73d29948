import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../scripts/test-postgres.ts';
import { outboxSchemaSql } from '../../src/outbox/source/outbox-schema-sql.ts';
import { openGate } from '../../test/support/tcp-gate.ts';
import { openTestShop } from '../../test/support/test-shop.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const server = await startEmbeddedPostgres([
  ['wal_level', 'logical'],
  ['max_wal_senders', '4'],
]);
const gate = await openGate(server.url);
const app = new pg.Pool({ connectionString: server.url }).on('error', () => undefined);
after(async () => {
  await app.end();
  await server.stop();
});
const environment = { OUTBOX_NETWORKS: '127.0.0.0/8' };
const roles = ['http', 'management', 'outbox'] as const;
const shop = await openTestShop({ environment, roles });
const { database, owner, path } = shop;
await app.query(`
  create role streaming login replication password 'of-streaming';
  create role polling login password 'of-polling'`);

interface Source {
  readonly id: string;
  readonly reading: 'replication' | 'polling' | null;
  readonly slotBytes: number | null;
}

let count = 0;

/** A published table without a trigger that notifies, and its source. */
async function openOutbox(user = 'streaming', create?: (table: string) => string) {
  count += 1;
  const [id, table] = [`source-${count}`, `outbox_${count}`];
  if (create !== undefined) await app.query(create(table));
  await app.query(outboxSchemaSql({ dialect: 'postgres', table, answers: null }));
  await app.query(`
    drop trigger signalpost_outbox on ${table};
    create publication "of ${table}" for table ${table} (id)
      with (publish = 'insert', publish_via_partition_root);
    grant select, update (status, message_id, error, processed_at) on ${table} to ${user}`);
  const url = new URL(gate.url);
  url.username = user;
  url.password = `of-${user}`;
  url.search = '?sslmode=disable';
  const saved = await owner.put(`${path}/outbox-sources/${id}`, { table, url: url.href });
  assert.equal(saved.status, 201, saved.text);
  const state = async (): Promise<Source | undefined> =>
    ((await owner.get(`${path}/outbox-sources`)).body.items as Source[]).find(
      (source) => source.id === id,
    );
  return {
    table,
    reads: (reading: Source['reading']) =>
      waitFor(`the source to be read by ${reading}`, async () => {
        return (await state())?.reading === reading;
      }),
    state,
    async insert(rows: number): Promise<void> {
      await app.query(
        `insert into ${table} (template, to_address, data)
         select 't-0001', 'ada-' || n || '@people.test', '{"Order Number":"7"}' from generate_series(1, $1) n`,
        [rows],
      );
    },
    answered: (rows: number) =>
      waitFor(`${rows} answers in ${table}`, async () => {
        const found = await app.query(`select from ${table} where status = 'accepted'`);
        return found.rowCount === rows;
      }).catch(async (error: Error) => {
        throw new Error(`${error.message}: ${JSON.stringify(await state())}`);
      }),
    async messages(): Promise<number> {
      const { rows } = await database.pool.query(
        `select count(*)::int as count from message where account_id = $1 and client_id = $2`,
        [shop.shop.id, `outbox-${id}`],
      );
      return rows[0].count;
    },
    remove: () => owner.delete(`${path}/outbox-sources/${id}`),
  };
}

/** The slot of the only source. */
async function slot(): Promise<{ name: string; pid: number; unconfirmed: number } | undefined> {
  const { rows } = await app.query(
    `select slot_name as name, active_pid as pid,
       pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn)::int as unconfirmed
     from pg_replication_slots`,
  );
  return rows[0];
}

test('inserted rows of a published table are streamed, one after another', async (t) => {
  const outbox = await openOutbox();
  t.after(outbox.remove);
  await outbox.reads('replication');
  // A scan each 5 seconds would take minutes.
  for (let row = 1; row <= 60; row += 1) {
    await outbox.insert(1);
    await outbox.answered(row);
  }
  assert.equal(await outbox.messages(), 60);
});

test('a partitioned table is streamed as a whole, and loses partitions once they are answered', async (t) => {
  const outbox = await openOutbox(
    'streaming',
    (table) => `
      create table ${table} (id uuid not null default gen_random_uuid(), day int not null default 1,
        template text not null, to_address text not null, data jsonb,
        status text, message_id uuid, error jsonb, processed_at timestamptz,
        primary key (id, day)) partition by range (day);
      create table ${table}_1 partition of ${table} for values from (1) to (2);
      create table ${table}_2 partition of ${table} for values from (2) to (3)`,
  );
  t.after(outbox.remove);
  await outbox.reads('replication');
  for (let row = 1; row <= 20; row += 1) {
    await outbox.insert(1);
    await outbox.answered(row);
  }
  await app.query(`alter table ${outbox.table} alter day set default 2`);
  await app.query(`drop table ${outbox.table}_1`);
  await outbox.insert(1);
  await outbox.answered(1);
  assert.equal(await outbox.messages(), 21);
});

test('an idle table holds back no WAL of others', async (t) => {
  const outbox = await openOutbox();
  t.after(outbox.remove);
  await outbox.reads('replication');
  await app.query(
    `create table other as select repeat('x', 1000) as text from generate_series(1, 20000)`,
  );
  await waitFor('the WAL to be confirmed', async () => {
    const found = await slot();
    return found !== undefined && found.unconfirmed < 1_000_000;
  });
});

test('each row is sent once while the stream breaks and rows are rolled back', async (t) => {
  const outbox = await openOutbox();
  t.after(outbox.remove);
  await outbox.reads('replication');
  for (let turn = 1; turn <= 5; turn += 1) {
    const client = await app.connect();
    await client.query('begin');
    await client.query(
      `insert into ${outbox.table} (template, to_address) values ('t-0001', 'lost@people.test')`,
    );
    await client.query('rollback');
    client.release();
    await outbox.insert(40);
    if (turn === 2) await app.query('select pg_terminate_backend($1)', [(await slot())?.pid]);
    if (turn === 4)
      await app.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'streaming'`,
      );
  }
  await outbox.answered(200);
  assert.equal(await outbox.messages(), 200);
});

test('a slot that holds back too much WAL is dropped, and its rows are found by polling', async (t) => {
  const outbox = await openOutbox();
  t.after(outbox.remove);
  await outbox.reads('replication');
  const { name } = (await slot()) ?? {};
  const client = await app.connect();
  t.after(() => client.release(true));
  // What happens before it ends must be kept for the slot.
  await client.query('begin; create temporary table unfinished (id int)');
  for (let file = 0; file < 70; file += 1)
    await app.query(`select pg_logical_emit_message(false, 'test', 'x'), pg_switch_wal()`);
  await waitFor('the slot to be dropped', async () => (await slot())?.name !== name, 60_000);
  await outbox.insert(10);
  await outbox.answered(10);
  await outbox.reads('polling');
  assert.equal(await outbox.messages(), 10);
});

test('a role that may not replicate polls', async (t) => {
  const outbox = await openOutbox('polling');
  t.after(outbox.remove);
  await outbox.insert(10);
  await outbox.answered(10);
  await outbox.reads('polling');
  assert.equal(await slot(), undefined);
});
