import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createPool, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';
import { insert } from '../../packages/client/src/outbox.ts';
import { constraintChanges, outboxSchemaSql } from '../../src/outbox/source/outbox-schema-sql.ts';
import { TestAuthority } from '../../test/support/test-certificates.ts';
import { startTestService } from '../../test/support/test-service.ts';
import { openTestShop } from '../../test/support/test-shop.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { connectionOf, mariaDbPassword, startMariaDb } from '../support/start-mariadb.ts';

const authority = new TestAuthority();
const trusted = getCACertificates('default');
setDefaultCACertificates([...trusted, authority.ca]);
after(() => setDefaultCACertificates(trusted));
// In this mode, a backslash escapes nothing.
const server = await startMariaDb(authority.issue(['localhost']), [
  'sql_mode=STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES',
  'default-time-zone=+05:30',
]);
const app = createPool({ ...connectionOf(server.port), connectionLimit: 8 });
after(() => app.end());
// The driver writes and reads times in UTC, and says so to no server.
app.on('connection', (connection) => void connection.query("set time_zone = '+00:00'"));
await app.query(`
  create user signalpost@'%' identified by 'of-signalpost'`);
const environment = { OUTBOX_NETWORKS: '127.0.0.0/8' };
const roles = ['http', 'management', 'outbox'] as const;
const { database, databaseUrl, owner, path, shop } = await openTestShop({ environment, roles });
await startTestService({ databaseUrl, roles, environment });

interface Row extends RowDataPacket {
  readonly id: number | string;
  readonly status: string | null;
  readonly message_id: string | null;
  readonly error: object | null;
  readonly processed_at: Date | null;
}

let count = 0;

/** A table of the account, and its source. */
async function openOutbox({
  answers = null,
  after = 'keep',
  sql = outboxSchemaSql,
  granted = 'status, message_id, error, processed_at',
}: {
  readonly answers?: string | null;
  readonly after?: 'keep' | 'delete';
  readonly granted?: string;
  readonly sql?: (tables: Parameters<typeof outboxSchemaSql>[0]) => string;
} = {}) {
  count += 1;
  const table = `outbox_${count}`;
  const id = `source-${count}`;
  await app.query(sql({ dialect: 'mysql', table, answers }));
  const grants =
    answers === null
      ? `grant select, update (${granted})`
      : `grant select, insert on ${answers} to signalpost@'%'; grant select, update (id)`;
  await app.query(
    `${grants} on ${table} to signalpost@'%'; ${after === 'delete' ? `grant delete on ${table} to signalpost@'%'` : ''}`,
  );
  const url = `mysql://signalpost:of-signalpost@localhost:${server.port}/shop`;
  const saved = await owner.put(`${path}/outbox-sources/${id}`, { table, url, answers, after });
  assert.equal(saved.status, 201, saved.text);
  assert.equal(saved.body.dialect, 'mysql');
  const rows = async (): Promise<Row[]> => {
    const [found] = await app.query<Row[]>(`select * from ${answers ?? table} order by id`);
    return found;
  };
  return {
    table,
    id,
    rows,
    async insert(columns: Readonly<Record<string, unknown>> = {}): Promise<string> {
      const row = {
        template: 't-0001',
        to_address: 'ada@customer.test',
        data: '{"Order Number":"7"}',
        ...columns,
      };
      const names = Object.keys(row);
      const [{ insertId }] = await app.execute<ResultSetHeader>(
        `insert into ${table} (${names}) values (${names.map(() => '?')})`,
        Object.values(row) as string[],
      );
      return String((columns as { id?: unknown }).id ?? insertId);
    },
    async answer(row: string): Promise<Row> {
      return waitFor(`the answer of ${table} ${row}`, async () =>
        (await rows()).find((each) => String(each.id) === row && each.status !== null),
      ).catch(async (error: Error) => {
        throw new Error(`${error.message}: ${JSON.stringify(await this.state())}`);
      });
    },
    async messages(): Promise<{ id: string; to: string; external_id: string | null }[]> {
      const found = await database.pool.query(
        `select id, content->>'to' as "to", external_id from message where account_id = $1 and client_id = $2`,
        [shop.id, `outbox-${id}`],
      );
      return found.rows;
    },
    async state() {
      const { items } = (await owner.get(`${path}/outbox-sources`)).body;
      return (items as { id: string; failure: string | null; failedRows: { id: string }[] }[]).find(
        (source) => source.id === id,
      );
    },
  };
}

test('a committed row of MariaDB is sent and answered, and a rolled-back one is not', async () => {
  const outbox = await openOutbox();
  const client = await app.getConnection();
  await client.beginTransaction();
  await client.query(
    `insert into ${outbox.table} (template, to_address, data) values ('t-0001', 'lost@customer.test', '{"Order Number":"1"}')`,
  );
  const sendAt = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 3_600_000);
  const id = await outbox.insert({ options: '{"metadata":{"externalId":"order-7"}}' });
  const later = await outbox.insert({ send_at: sendAt });
  const row = await outbox.answer(id);
  assert.equal(row.error, null, JSON.stringify(row.error));
  assert.equal(row.status, 'accepted');
  assert.ok(Math.abs(Date.now() - Number(row.processed_at)) < 60_000, String(row.processed_at));
  const message = await owner.get(`${path}/messages/${row.message_id}`);
  assert.equal(message.body.externalId, 'order-7');
  const { message_id: scheduled } = await outbox.answer(later);
  const { items } = (await owner.get(`${path}/scheduled-messages`)).body;
  assert.deepEqual(
    (items as { messageId: string; sendAt: string }[]).map((each) => [each.messageId, each.sendAt]),
    [[scheduled, sendAt.toISOString()]],
  );
  await client.rollback();
  client.release();
  await outbox.answer(await outbox.insert());
  assert.ok(!JSON.stringify(await outbox.messages()).includes('lost@customer.test'));
});

test('a row that fails says why, whatever it contains, and is sent once it is corrected', async () => {
  const outbox = await openOutbox();
  const hostile = `\\'); drop table ${outbox.table}; -- ✓ 😀`;
  const id = await outbox.insert({ data: JSON.stringify({ [hostile]: 'x' }) });
  const other = await outbox.insert({ options: JSON.stringify({ metadata: { [hostile]: 'x' } }) });
  const row = await outbox.answer(id);
  assert.equal(row.status, 'failed');
  const error = (await outbox.answer(other)).error;
  assert.ok(
    JSON.stringify(error).includes(JSON.stringify(hostile).slice(1, -1)),
    JSON.stringify(error),
  );
  await waitFor('the failed rows', async () => (await outbox.state())?.failedRows.length === 2);
  await app.query(`update ${outbox.table} set data = '{"Order Number":"8"}' where id = ?`, [id]);
  await waitFor('the corrected row', async () =>
    (await outbox.rows()).some((each) => String(each.id) === id && each.status === 'accepted'),
  );
  await app.query(`update ${outbox.table} set options = '{}' where id = ?`, [other]);
  await waitFor('both messages', async () => (await outbox.messages()).length === 2);
  await waitFor('no failed rows', async () => (await outbox.state())?.failedRows.length === 0);
});

test('a row of MariaDB that the account has locked holds up no other, and new rows are inserted meanwhile', async () => {
  const outbox = await openOutbox();
  const client = await app.getConnection();
  await client.beginTransaction();
  const locked = await outbox.insert({ to_address: 'locked@customer.test', status: 'held' });
  await client.query(`select * from ${outbox.table} where id = ? for update`, [locked]);
  await client.query(`update ${outbox.table} set status = null where id = ?`, [locked]);
  assert.equal((await outbox.answer(await outbox.insert())).status, 'accepted');
  await client.commit();
  await client.beginTransaction();
  await client.query(`select * from ${outbox.table} where id = ? for update`, [locked]);
  await waitFor(
    'the message of the locked row',
    async () => (await outbox.messages()).length === 2,
  );
  assert.equal((await outbox.answer(await outbox.insert())).status, 'accepted');
  await client.commit();
  client.release();
  assert.equal((await outbox.answer(locked)).status, 'accepted');
  assert.equal((await outbox.messages()).length, 3);
});

test('keys of text in any collation, and the least columns', async () => {
  const outbox = await openOutbox({
    granted: 'status',
    sql: ({ table }) => `
      create table ${table} (id varchar(300) character set latin1 collate latin1_german1_ci primary key, template text, to_address text,
        status varchar(20)) character set latin1; alter table ${table} add data json`,
  });
  await outbox.insert({ id: 'order "7" ä \\' });
  const row = await outbox.answer('order "7" ä \\');
  assert.equal(row.status, 'accepted', JSON.stringify(row));
});

test('answers are written to a second table, and accepted rows are deleted', async () => {
  const outbox = await openOutbox({ answers: 'outbox_answers', after: 'delete' });
  const failed = await outbox.insert({ template: 'unknown' });
  const id = await outbox.insert();
  assert.equal((await outbox.answer(id)).status, 'accepted');
  assert.equal((await outbox.answer(failed)).status, 'failed');
  const [left] = await app.query<RowDataPacket[]>(`select id from ${outbox.table}`);
  assert.deepEqual(
    left.map((each) => String(each.id)),
    [failed],
  );
});

test('constraints refuse a row without a value that its template needs, and are changed with it', async () => {
  const needs = (...body: string[]) => [
    { id: 't-0001', required: { subject: [], previewText: [], body } },
  ];
  const outbox = await openOutbox({
    sql: (tables) => outboxSchemaSql(tables, needs('Order Number')),
  });
  // ER_CONSTRAINT_FAILED; the driver has MySQL's names of numbers.
  const refused = { errno: 4025 };
  await assert.rejects(outbox.insert({ data: '{}' }), refused);
  assert.equal((await outbox.answer(await outbox.insert())).status, 'accepted');
  const tables = { dialect: 'mysql', table: outbox.table, answers: null } as const;
  const names = async (): Promise<string[]> => {
    const [rows] = await app.query<RowDataPacket[]>(
      `select constraint_name as name from information_schema.table_constraints
       where constraint_type = 'CHECK' and table_name = ?`,
      [outbox.table],
    );
    return rows.map(({ name }) => name);
  };
  const quoted = needs('Order Number', 'It\'s "new"');
  // Unlike PostgreSQL, it checks the rows that are there.
  await app.query(`delete from ${outbox.table}`);
  await app.query(constraintChanges(tables, quoted, await names()).join(''));
  assert.deepEqual(constraintChanges(tables, quoted, await names()), []);
  await assert.rejects(outbox.insert(), refused);
  const data = JSON.stringify({ 'Order Number': '7', 'It\'s "new"': 'x' });
  assert.equal((await outbox.answer(await outbox.insert({ data }))).status, 'accepted');
});

test('the client sets a time, whatever the time zone of the session is', async () => {
  const outbox = await openOutbox();
  const client = await app.getConnection();
  await client.query("set time_zone = '-03:00'");
  const sendAt = new Date(Date.now() + 3_600_000).toISOString();
  const message = { to: 'ada@customer.test', data: { 'Order Number': '7' }, sendAt };
  const options = { dialect: 'mysql', table: outbox.table } as const;
  const [{ insertId }] = await insert(
    (sql, values) => client.execute<ResultSetHeader>(sql, values),
    't-0001',
    message,
    options,
  );
  await client.query("set time_zone = '+00:00'");
  client.release();
  const { message_id: id } = await outbox.answer(String(insertId));
  const { items } = (await owner.get(`${path}/scheduled-messages`)).body;
  const scheduled = (items as { messageId: string; sendAt: string }[]).find(
    ({ messageId }) => messageId === id,
  );
  assert.equal(scheduled?.sendAt, sendAt);
});

test('2,000 rows are each sent once while MariaDB is killed and readers overlap', async () => {
  const outbox = await openOutbox();
  await app.query(
    `insert into ${outbox.table} (template, to_address, data)
     select 't-0001', concat('c', seq, '@customer.test'), '{"Order Number":"1"}' from seq_1_to_2000`,
  );
  for (let round = 1; round <= 3; round += 1) {
    await waitFor('progress', async () => (await outbox.messages()).length > round * 300);
    await server.kill();
    await database.pool.query(
      `update outbox_source set lease_until = now() - interval '1 second' where id = $1`,
      [outbox.id],
    );
    await server.start();
  }
  await waitFor(
    'all answers',
    async () => (await outbox.rows()).every(({ status }) => status),
    60_000,
  );
  const messages = await outbox.messages();
  assert.equal(messages.length, 2_000);
  const sent = new Map(messages.map((message) => [message.to, message.id]));
  for (const row of await outbox.rows())
    assert.equal(row.message_id, sent.get(String(row.to_address)));
});

test('ASVS 4.0.3 9.2.1: a MariaDB whose certificate is for another name gets no password', async () => {
  const other = await startMariaDb(authority.issue(['elsewhere.test']));
  const url = `mysql://root:${mariaDbPassword}@localhost:${other.port}/shop`;
  assert.equal((await owner.put(`${path}/outbox-sources/wrong`, { table: 'x', url })).status, 201);
  await waitFor('the failure', async () => {
    const { items } = (await owner.get(`${path}/outbox-sources`)).body;
    const found = (items as { id: string; failureDetail: string | null }[]).find(
      ({ id }) => id === 'wrong',
    );
    return /certificate|altnames/i.test(found?.failureDetail ?? '');
  });
});
