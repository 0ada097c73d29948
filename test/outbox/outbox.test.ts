import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, type TestContext, test } from 'node:test';
import { TLSSocket } from 'node:tls';
import pg from 'pg';
import { toQuota } from '../../src/accounts/account/account-store.ts';
import { outboxSchemaSql } from '../../src/outbox/source/outbox-schema-sql.ts';
import { testAccountFirst } from '../support/account-first.ts';
import type { ManagementClient } from '../support/management-client.ts';
import { runInProcess } from '../support/run-command.ts';
import { sendRequest } from '../support/send-request.ts';
import { serviceTokens } from '../support/service-tokens.ts';
import { publishShopTemplate, saveShop } from '../support/shop.ts';
import { openGate } from '../support/tcp-gate.ts';
import { TestAuthority } from '../support/test-certificates.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { TestDns } from '../support/test-dns.ts';
import { startTestService } from '../support/test-service.ts';
import { openTestShop } from '../support/test-shop.ts';
import { waitFor } from '../support/wait-for.ts';

const environment = { OUTBOX_NETWORKS: '127.0.0.0/8' };
const roles = ['http', 'management', 'outbox'] as const;
const shop = await openTestShop({ environment, roles });
const { database, databaseUrl, owner, path } = shop;
const own = await createTestDatabase();
const gate = await openGate(own.url);
/** The account's own connection. */
const app = new pg.Pool({ connectionString: withoutOptions(own.url), max: 4 }).on(
  'error',
  () => undefined,
);
after(() => app.end());

/** The options of tests' connections put their tables elsewhere. */
function withoutOptions(text: string): string {
  const url = new URL(text);
  url.searchParams.delete('options');
  return url.href;
}

/** A second node, whose reader has other sources than the first one's, and the same ones after it. */
const second = await startTestService({ databaseUrl, roles, environment });

function sourceUrl(port = new URL(gate.url).port): string {
  const { username, password, pathname } = new URL(own.url);
  return `postgres://${username}:${password || 'any'}@127.0.0.1:${port}${pathname}?sslmode=disable`;
}

/** The settings of commands on this installation. */
const commands = {
  ...environment,
  DATABASE_URL: databaseUrl,
  SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
};

let tables = 0;

function postgresTable(table: string): string {
  return outboxSchemaSql({ dialect: 'postgres', table, answers: null });
}

type ListedSource = Readonly<Record<'failure' | 'failureDetail' | 'readAt', string | null>>;

async function findSource(
  client: ManagementClient,
  where: string,
  id: string,
): Promise<ListedSource | undefined> {
  const { items } = (await client.get(`${where}/outbox-sources`)).body;
  return (items as (ListedSource & { id: string })[]).find((source) => source.id === id);
}

interface Row {
  readonly id: string;
  readonly status: string | null;
  readonly message_id: string | null;
  readonly error: { errorName: string; details: { field: string }[] } | null;
  readonly processed_at: Date | null;
}

/** A table of the account, and its source. */
class Outbox {
  readonly table: string;
  readonly id: string;

  private constructor(table: string | undefined) {
    tables += 1;
    this.id = `source-${tables}`;
    this.table = table ?? `outbox_${tables}`;
  }

  static async open(
    context: TestContext,
    sql = postgresTable,
    table?: string,
    settings?: object,
  ): Promise<Outbox> {
    const outbox = new Outbox(table);
    context.after(() => owner.delete(outbox.where));
    await app.query(sql(outbox.table));
    await outbox.save(settings);
    return outbox;
  }

  get where(): string {
    return `${path}/outbox-sources/${this.id}`;
  }

  async save(settings: object = {}): Promise<void> {
    const saved = await owner.put(this.where, { table: this.table, url: sourceUrl(), ...settings });
    assert.ok(saved.status === 200 || saved.status === 201, saved.text);
  }

  async remove(): Promise<void> {
    assert.equal((await owner.delete(this.where)).status, 204);
  }

  /** @returns the id */
  async insert(columns: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const row = {
      template: 't-0001',
      to_address: 'ada@customer.test',
      data: { 'Order Number': '7' },
      ...columns,
    };
    const names = Object.keys(row);
    const { rows } = await app.query<{ id: string }>(
      `insert into ${this.table} (${names}) values (${names.map((_, index) => `$${index + 1}`)}) returning id`,
      Object.values(row),
    );
    return String(rows[0]?.id);
  }

  async rows(): Promise<Row[]> {
    const { rows } = await app.query<Row>(`select * from ${this.table} order by id`);
    return rows;
  }

  /** The row once it has an answer. */
  async answer(id: string): Promise<Row> {
    return waitFor(`the answer of ${this.table} ${id}`, async () =>
      (await this.rows()).find((row) => String(row.id) === id && row.status !== null),
    );
  }

  async state(): Promise<ListedSource | undefined> {
    return findSource(owner, path, this.id);
  }

  /** The source once it fails for a reason, or works. */
  async failure(name: string | null): Promise<void> {
    let last: unknown;
    await app.query('notify signalpost_outbox');
    await waitFor(`${this.id} to say ${name}`, async () => {
      last = await this.state();
      return (last as ListedSource | undefined)?.failure === name;
    }).catch((error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify(last)}`);
    });
  }

  /** Messages that the service has of this source. */
  async messages(): Promise<{ id: string; content: { to: string }; external_id: string | null }[]> {
    const { rows } = await database.pool.query(
      `select id, content, external_id from message where account_id = $1 and client_id = $2`,
      [shop.shop.id, `outbox-${this.id}`],
    );
    return rows;
  }
}

test('a committed row is sent and answered, and a rolled-back one is not', async (t) => {
  const outbox = await Outbox.open(t);
  const client = await app.connect();
  t.after(() => client.release(true));
  await client.query('begin');
  await client.query(
    `insert into ${outbox.table} (template, to_address, data) values ('t-0001', 'lost@customer.test', '{"Order Number":"1"}')`,
  );
  const sendAt = new Date(Date.now() + 3_600_000);
  const id = await outbox.insert({
    options: { metadata: { externalId: 'order-7' }, envelope: { toDisplayName: 'Ada' } },
  });
  const later = await outbox.insert({ send_at: sendAt });
  const past = await outbox.insert({ send_at: new Date(Date.now() - 86_400_000) });
  const row = await outbox.answer(id);
  assert.equal(row.error, null, JSON.stringify(row.error));
  assert.equal(row.status, 'accepted');
  assert.ok(row.processed_at instanceof Date);
  const message = await owner.get(`${path}/messages/${row.message_id}`);
  assert.equal(message.body.externalId, 'order-7');
  const { message_id: scheduled } = await outbox.answer(later);
  const { items } = (await owner.get(`${path}/scheduled-messages`)).body;
  assert.deepEqual(
    (items as { messageId: string; sendAt: string }[]).map((each) => [each.messageId, each.sendAt]),
    [[scheduled, sendAt.toISOString()]],
  );
  assert.equal((await outbox.answer(past)).status, 'accepted');
  await client.query('rollback');
  const last = await outbox.insert();
  await outbox.answer(last);
  const messages = await outbox.messages();
  assert.equal(messages.length, 4);
  assert.ok(!JSON.stringify(messages).includes('lost@customer.test'));
});

test('a row that commits after rows with higher ids is not missed', async (t) => {
  const outbox = await Outbox.open(t);
  const client = await app.connect();
  t.after(() => client.release(true));
  await client.query('begin');
  const { rows } = await client.query<{ id: string }>(
    `insert into ${outbox.table} (template, to_address, data) values ('t-0001', 'slow@customer.test', '{"Order Number":"1"}') returning id`,
  );
  await outbox.answer(await outbox.insert());
  await client.query('commit');
  assert.equal((await outbox.answer(String(rows[0]?.id))).status, 'accepted');
});

test('a row that can’t be sent says why, blocks no other, and is sent once it is corrected', async (t) => {
  const outbox = await Outbox.open(t);
  const cases = [
    [{ template: 'unknown' }, 'INVALID_ID', 'templateId'],
    [{ data: {} }, 'PERSONALIZATION_FAILURE', 'content.personalizationDataMap.Order Number'],
    [{ to_address: 'nobody' }, 'VALIDATION_FAILED', 'envelope.toAddress'],
    [{ options: { envelope: 'text' } }, 'VALIDATION_FAILED', 'envelope'],
    [{ options: { metadata: { nonsense: 1 } } }, 'VALIDATION_FAILED', 'metadata.nonsense'],
    [{ data: { 'Order Number': 'x'.repeat(300_000) } }, 'VALIDATION_FAILED', 'data'],
    [{ options: { envelope: { fromAddress: 'x@x.test' } } }, 'SENDER_NOT_ALLOWED', undefined],
  ] as const;
  const ids: string[] = [];
  for (const [columns] of cases) ids.push(await outbox.insert(columns));
  const good = await outbox.insert();
  assert.equal((await outbox.answer(good)).status, 'accepted');
  for (const [index, [, errorName, field]] of cases.entries()) {
    const row = await outbox.answer(ids[index] ?? '');
    assert.equal(row.status, 'failed');
    assert.equal(row.message_id, null);
    assert.equal(row.error?.errorName, errorName, JSON.stringify(row.error));
    if (field !== undefined)
      assert.ok(
        row.error?.details.some((detail) => detail.field === field),
        JSON.stringify(row.error),
      );
  }
  const [, incomplete = ''] = ids;
  await app.query(
    `update ${outbox.table} set data = '{"Order Number":"8"}', status = null, error = null where id = $1`,
    [incomplete],
  );
  const corrected = await outbox.answer(incomplete);
  assert.equal(corrected.status, 'accepted', JSON.stringify(corrected.error));
  assert.equal((await outbox.messages()).length, 2);
});

test('a row that is read again has the same message, and with other content it is an error', async (t) => {
  const outbox = await Outbox.open(t);
  const id = await outbox.insert();
  const first = await outbox.answer(id);
  const again = async (set: string): Promise<Row> => {
    await app.query(
      `update ${outbox.table} set status = null, message_id = null, processed_at = null${set} where id = $1`,
      [id],
    );
    return outbox.answer(id);
  };
  const repeated = await again('');
  assert.deepEqual([repeated.status, repeated.message_id], ['accepted', first.message_id]);
  const changed = await again(`, data = '{"Order Number":"9"}'`);
  assert.deepEqual([changed.status, changed.error?.errorName], ['failed', 'IDEMPOTENCY_MISMATCH']);
  assert.equal((await outbox.messages()).length, 1);
  // Removed and added again, the source knows nothing of the rows of the old one.
  await outbox.remove();
  await outbox.save();
  await waitFor('the new source to be read', async () => {
    return (await outbox.state())?.readAt != null;
  });
  assert.equal((await again('')).status, 'accepted');
  assert.equal((await outbox.messages()).length, 2);
});

test('keys of rows are remembered for 90 days until the answer is written, and then for 7 days', async (t) => {
  const outbox = await Outbox.open(t);
  const daysLeft = async (): Promise<number[]> => {
    const { rows } = await database.pool.query<{ days: number }>(
      `select round(extract(epoch from created_at + interval '1 day' - now()) / 86400)::int as days
       from idempotency_key k where exists (
         select from outbox_source s where s.id = $1 and starts_with(k.key, E'outbox\\t' || s.incarnation))`,
      [outbox.id],
    );
    return rows.map(({ days }) => days);
  };
  await refuseAnswers(outbox.table);
  const id = await outbox.insert();
  await waitFor('the message', async () => (await outbox.messages()).length === 1);
  assert.deepEqual(await daysLeft(), [90]);
  await allowAnswers(outbox.table);
  await outbox.answer(id);
  await waitFor('the key’s new age', async () => (await daysLeft())[0] === 7);
});

/** Fails what a process doesn't do that ends between sending and answering. */
async function refuseAnswers(table: string): Promise<void> {
  await app.query(
    `create function refuse_${table}() returns trigger language plpgsql as $$ begin raise 'no answers'; end $$;
     create trigger refuse before update on ${table} for each row execute function refuse_${table}()`,
  );
}

async function allowAnswers(table: string): Promise<void> {
  await app.query(
    `create or replace function refuse_${table}() returns trigger language plpgsql as $$ begin return new; end $$`,
  );
}

test('after a failure between sending and answering, each row has been sent once', async (t) => {
  const outbox = await Outbox.open(t);
  await refuseAnswers(outbox.table);
  const ids = await Promise.all(Array.from({ length: 20 }, () => outbox.insert()));
  await outbox.failure('STATEMENT_FAILED');
  await waitFor('the messages', async () => (await outbox.messages()).length === 20);
  await allowAnswers(outbox.table);
  const answers = await Promise.all(ids.map((id) => outbox.answer(id)));
  const sent = new Set((await outbox.messages()).map(({ id }) => id));
  assert.deepEqual(new Set(answers.map((row) => row.message_id)), sent);
  assert.equal(sent.size, 20);
  await outbox.failure(null);
});

test('1,000 rows are each sent once while connections break and readers overlap', async (t) => {
  const outbox = await Outbox.open(t);
  await app.query(
    `insert into ${outbox.table} (template, to_address, data, options)
     select 't-0001', 'c' || n || '@customer.test', '{"Order Number":"1"}',
       jsonb_build_object('metadata', jsonb_build_object('externalId', n::text))
     from generate_series(1, 1000) as n`,
  );
  for (let round = 0; round < 5; round += 1) {
    await waitFor('progress', async () => (await outbox.messages()).length > round * 100);
    gate.cutAnswers('signalpost outbox');
    // As if the process with the lease had stopped for longer than it lasts.
    await database.pool.query(
      `update outbox_source set lease_until = now() - interval '1 second' where id = $1`,
      [outbox.id],
    );
    gate.open();
  }
  await waitFor('all answers', async () => (await outbox.rows()).every(({ status }) => status));
  const messages = await outbox.messages();
  assert.equal(messages.length, 1_000);
  assert.equal(new Set(messages.map((message) => message.external_id)).size, 1_000);
  const sent = new Map(messages.map((message) => [message.external_id, message.id]));
  for (const row of await outbox.rows()) assert.equal(row.message_id, sent.get(String(row.id)));
});

test('another node takes over when the one that reads stops', async (t) => {
  const outbox = await Outbox.open(t);
  await outbox.answer(await outbox.insert());
  const third = await startTestService({ databaseUrl, roles, environment });
  await second.stop();
  await outbox.answer(await outbox.insert());
  await third.stop();
  await outbox.answer(await outbox.insert());
  assert.equal((await outbox.messages()).length, 3);
});

test('a table that was altered, is locked or forbidden is named, and reading goes on once it is not', async (t) => {
  const outbox = await Outbox.open(t);
  await outbox.answer(await outbox.insert());
  await app.query(`alter table ${outbox.table} rename column to_address to recipient`);
  await outbox.failure('COLUMN_MISSING');
  await app.query(`alter table ${outbox.table} rename column recipient to to_address`);
  await outbox.failure(null);
  await app.query(`alter table ${outbox.table} rename to elsewhere`);
  await outbox.failure('TABLE_MISSING');
  await app.query(`alter table elsewhere rename to ${outbox.table}`);
  await outbox.failure(null);
  const { rows } = await app.query<{ owner: string }>('select current_user as owner');
  await app.query(`revoke select on ${outbox.table} from "${rows[0]?.owner}"`);
  await outbox.failure('PERMISSION_DENIED');
  await app.query(`grant select on ${outbox.table} to "${rows[0]?.owner}"`);
  await outbox.failure(null);
  gate.close();
  await outbox.failure('UNREACHABLE');
  const id = await outbox.insert();
  gate.open();
  assert.equal((await outbox.answer(id)).status, 'accepted');
});

test('a row that the account has locked is answered later, and holds up no other', async (t) => {
  const outbox = await Outbox.open(t);
  await refuseAnswers(outbox.table);
  const locked = await outbox.insert();
  await outbox.failure('STATEMENT_FAILED');
  const client = await app.connect();
  t.after(() => client.release(true));
  await client.query('begin');
  await client.query(`select from ${outbox.table} where id = $1 for update`, [locked]);
  await allowAnswers(outbox.table);
  assert.equal((await outbox.answer(await outbox.insert())).status, 'accepted');
  assert.equal((await outbox.rows())[0]?.status, null);
  await client.query('commit');
  assert.equal((await outbox.answer(locked)).status, 'accepted');
  assert.equal((await outbox.messages()).length, 2);
});

test('rows of an account that is suspended or has reached its quota wait', async (t) => {
  const outbox = await Outbox.open(t);
  t.after(() => saveShop(database));
  await saveShop(database, { suspended: true });
  await outbox.failure('ACCOUNT_SUSPENDED');
  const ids = [await outbox.insert(), await outbox.insert()];
  assert.deepEqual(
    (await outbox.rows()).map(({ status }) => status),
    [null, null],
  );
  await saveShop(database, { quota: toQuota(1, undefined) });
  await outbox.failure('QUOTA_EXCEEDED');
  const statuses = (await outbox.rows()).map(({ status }) => status);
  assert.deepEqual(statuses.toSorted(), ['accepted', null]);
  await saveShop(database);
  for (const id of ids) assert.equal((await outbox.answer(id)).status, 'accepted');
});

test('a table without the optional columns, with keys of text, is read by polling', async (t) => {
  const outbox = await Outbox.open(
    t,
    (table) =>
      `create table "${table}" (id text primary key, template text, to_address text, data json, status varchar(20))`,
  );
  const id = 'a key: ✓ “quoted” '.repeat(20);
  await outbox.insert({ id });
  assert.equal((await outbox.answer(id)).status, 'accepted');
  await outbox.insert({ id: 'no-template', template: null });
  assert.equal((await outbox.answer('no-template')).status, 'failed');
});

test('ASVS 4.0.3 5.2.6: a source leads to no private network, and its URL names nothing else', async () => {
  const dns = await new TestDns()
    .set('inside.test', { A: ['203.0.113.5', '127.0.0.1'] })
    .set('loopback.test', { A: ['127.0.0.1'] })
    .start();
  const strict = await openTestShop({ roles, environment: { DNS_SERVERS: dns.server } });
  const put = (url: string) =>
    strict.owner.put(`${strict.path}/outbox-sources/orders`, { table: 'email_outbox', url });
  for (const url of [
    sourceUrl(),
    'postgres://u:p@10.0.0.1/db',
    'postgres://u:p@localhost/db',
    'postgres://u:p@[::1]/db',
    'postgres://u:p@[::ffff:127.0.0.1]/db',
    'postgres://u:p@db.test/db?host=/var/run/postgresql',
    'postgres://u:p@db.test/db?sslrootcert=/etc/passwd',
    'postgres://u:p@db.test/db?sslmode=no-verify',
    'postgres://u:p@203.1.1.1/db?sslmode=disable',
    'postgres://u@db.test/db',
    'postgres://u:p@/db',
    'postgres://u:p@%2Fvar%2Frun/db',
    `postgres://u:p@${'db.test,'.repeat(8)}db.test/db`,
    'postgres://u:p@db.test,127.0.0.1/db',
    'mysql://u:p@127.0.0.1/db',
    'mysql://u:p@203.1.1.1/db',
    'http://u:p@db.test/db',
  ]) {
    const refused = await put(url);
    assert.equal(refused.status, 422, `${url}: ${refused.text}`);
    assert.equal((refused.body.errors as { field: string }[])[0]?.field, 'url', url);
    assert.ok(!refused.text.includes('u:p@'), refused.text);
  }
  const kept = await put('postgres://signalpost:hush-hush@db.invalid/shop');
  assert.equal(kept.status, 201, kept.text);
  for (const where of ['outbox-sources', 'outbox-sources/orders', 'audit'])
    assert.ok(!(await strict.owner.get(`${strict.path}/${where}`)).text.includes('hush'), where);
  await waitFor('the source to fail', async () => {
    return (await findSource(strict.owner, strict.path, 'orders'))?.failure === 'UNREACHABLE';
  });
  const { rows } = await strict.database.pool.query<{ url: Buffer }>(
    'select sealed_url as url from outbox_source',
  );
  assert.ok(
    rows[0]?.url.every(
      (_, index, all) => !all.subarray(index).toString('latin1').startsWith('hush'),
    ),
  );
  const port = new URL(gate.url).port;
  for (const url of [
    `postgres://u:p@inside.test:${port}/shop`,
    `postgres://u:p@loopback.test:${port}/shop`,
    `postgres://u:p@loopback.test:${port}/shop?sslmode=disable`,
  ]) {
    assert.equal((await put(url)).status, 200, url);
    await waitFor(`${url} to be refused`, async () => {
      const source = await findSource(strict.owner, strict.path, 'orders');
      return /private network/.test(source?.failureDetail ?? '');
    });
    assert.equal((await put('postgres://u:p@db.invalid/shop')).status, 200);
    await waitFor('the next failure', async () => {
      const source = await findSource(strict.owner, strict.path, 'orders');
      return !/private network/.test(source?.failureDetail ?? '');
    });
  }
});

test('ASVS 4.0.3 9.2.1: a server whose certificate isn’t trusted gets no password', async (t) => {
  const { key, cert } = new TestAuthority().issue(['localhost']);
  const received: Buffer[] = [];
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write('S');
      new TLSSocket(socket, { isServer: true, key, cert })
        .on('data', (bytes: Buffer) => received.push(bytes))
        .on('error', () => undefined);
    });
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const outbox = await Outbox.open(t);
  const url = sourceUrl(String((server.address() as AddressInfo).port));
  await outbox.save({ url: url.replace('?sslmode=disable', '') });
  await outbox.failure('UNREACHABLE');
  assert.match(String((await outbox.state())?.failureDetail), /certificate/);
  assert.deepEqual(received, []);
});

test('a server that answers without end, or not at all, fails alone', async (t) => {
  const sockets: import('node:net').Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    socket.once('data', () => {
      const ready = Buffer.from('520000000800000000' + '5a0000000549', 'hex');
      socket.write(ready);
      socket.on('data', () => {
        // A row description that says it has 256 MiB.
        socket.write(Buffer.from('5410000000', 'hex'));
        const chunk = Buffer.alloc(1024 * 1024);
        const write = (): void => {
          while (!socket.destroyed && socket.write(chunk));
        };
        socket.on('drain', write);
        write();
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const outbox = await Outbox.open(t);
  await outbox.save({ url: sourceUrl(String((server.address() as AddressInfo).port)) });
  await outbox.failure('UNREACHABLE');
  assert.match(String((await outbox.state())?.failureDetail), /more than was asked for|terminated/);
  await outbox.save();
  assert.equal((await outbox.answer(await outbox.insert())).status, 'accepted');
});

test('a failed row is sent again once it is changed, or when someone asks for it', async (t) => {
  const outbox = await Outbox.open(t);
  const changed = await outbox.insert({ to_address: 'nobody' });
  const asked = await outbox.insert({ template: 'later' });
  const other = await outbox.insert({ template: 'never' });
  for (const id of [changed, asked, other])
    assert.equal((await outbox.answer(id)).status, 'failed');
  await app.query(`update ${outbox.table} set to_address = 'ada@customer.test' where id = $1`, [
    changed,
  ]);
  await waitFor(
    'the changed row',
    async () => (await outbox.answer(changed)).status === 'accepted',
  );
  await publishShopTemplate(database, shop.shop, { id: 'later', sender: 'orders@shop.test' });
  const retried = await runInProcess(['outbox', 'retry', shop.shop.id, outbox.id, asked], commands);
  assert.equal(retried.code, 0, retried.err);
  await waitFor('the row', async () => (await outbox.answer(asked)).status === 'accepted');
  const all = await owner.post(`${outbox.where}/retry`, {});
  assert.equal(all.status, 204, all.text);
  await waitFor('all failed rows', async () => {
    const { rows } = await app.query(
      `select from ${outbox.table} where id = $1 and processed_at > $2`,
      [other, (await outbox.rows()).find(({ id }) => String(id) === asked)?.processed_at],
    );
    return rows.length === 1;
  });
  assert.equal((await outbox.answer(other)).status, 'failed');
});

test('constraints refuse a row without a value that its template needs, and are checked against the templates', async (t) => {
  const table = 'outbox_constrained';
  const publish = (html: string) =>
    publishShopTemplate(database, shop.shop, {
      id: 'note-1',
      sender: 'orders@shop.test',
      source: { subject: 'Hello', previewText: '', html },
    });
  await publish('<p>{{Order "Number"}} {{First Name}}</p>');
  const schema = await runInProcess(['outbox', 'schema', shop.shop.id, '--table', table], commands);
  const outbox = await Outbox.open(t, () => schema.out, table);
  await assert.rejects(outbox.insert({ template: 'note-1', data: {} }), { code: '23514' });
  await assert.rejects(outbox.insert({ data: { 'First Name': 'Ada' } }), { code: '23514' });
  const complete = { 'Order "Number"': 'A-1' };
  const row = await outbox.answer(await outbox.insert({ template: 'note-1', data: complete }));
  assert.equal(row.status, 'accepted', JSON.stringify(row.error));
  const check = ['outbox', 'schema', shop.shop.id, '--check', outbox.id];
  const fits = await runInProcess(check, commands);
  assert.deepEqual([fits.code, fits.out], [0, ''], fits.err);
  await publish('<p>{{Order "Number"}} {{Total}}</p>');
  const differs = await runInProcess(check, commands);
  assert.equal(differs.code, 1, differs.err);
  assert.match(
    differs.out,
    /^alter table "outbox_constrained" drop constraint "signalpost_note-1_\w+";\n/,
  );
  await app.query(differs.out);
  await assert.rejects(outbox.insert({ template: 'note-1', data: complete }), { code: '23514' });
  assert.equal((await runInProcess(check, commands)).code, 0);
});

test('publishing a version that breaks rows that were sent recently requires force', async (t) => {
  const template = { id: 'note-2', sender: 'orders@shop.test' };
  const source = { subject: 'Hello', previewText: '', html: '<p>{{Name}}</p>' };
  await publishShopTemplate(database, shop.shop, { ...template, source });
  const outbox = await Outbox.open(t);
  const id = await outbox.insert({ template: template.id, data: { Name: 'Ada' } });
  const { message_id: messageId } = await outbox.answer(id);
  const where = `${path}/templates/${template.id}`;
  const draft = { ...source, html: '<p>{{Name}} {{Total}}</p>', sender: template.sender };
  assert.equal((await owner.put(`${where}/draft`, draft)).status, 201);
  const worker = await startTestService({ databaseUrl, roles: ['worker'] });
  t.after(worker.stop);
  await waitFor('the usage to be recorded', async () => {
    const usage = 'select from template_call where template_id = $1';
    return (await database.pool.query(usage, [template.id])).rowCount === 1;
  });
  const refused = await owner.post(`${where}/publish`, {});
  assert.equal(refused.body.type, '/problems/breaks-callers', refused.text);
  assert.deepEqual(refused.body.missing, ['Total']);
  const [call] = refused.body.calls as { lastMessageId: string }[];
  assert.equal(call?.lastMessageId, messageId);
});

test('answers go to a second table, and accepted rows are deleted, if a source says so', async (t) => {
  const table = 'outbox_apart';
  const outbox = await Outbox.open(
    t,
    () => outboxSchemaSql({ dialect: 'postgres', table, answers: `${table}_answers` }),
    table,
    { answers: `${table}_answers`, after: 'delete' },
  );
  const good = await outbox.insert();
  const bad = await outbox.insert({ to_address: 'nobody' });
  await waitFor('the answers', async () => {
    const { rows } = await app.query<Row>(`select * from ${table}_answers order by id`);
    return rows.length === 2 && rows.map(({ status }) => status).join(' ') === 'accepted failed';
  });
  const { rows } = await app.query<{ id: string }>(`select id from ${table}`);
  assert.deepEqual(
    rows.map(({ id }) => String(id)),
    [bad],
    `${good} is deleted`,
  );
  assert.equal((await outbox.messages()).length, 1);
});

test('the commands add, list and remove a source, and print the SQL of its table', async () => {
  const table = 'outbox_by_command';
  const schema = await runInProcess(['outbox', 'schema', '--table', table], commands);
  assert.equal(schema.code, 0, schema.err);
  await app.query(schema.out);
  await app.query(schema.out);
  const added = await runInProcess(
    ['outbox', 'add', shop.shop.id, 'by-command', '--table', table],
    commands,
    `${sourceUrl()}\n`,
  );
  assert.equal(added.code, 0, added.err);
  assert.ok(!added.out.includes(new URL(sourceUrl()).password || 'nothing'));
  await app.query(
    `insert into ${table} (template, to_address, data) values ('t-0001', 'ada@customer.test', '{"Order Number":"7"}')`,
  );
  await waitFor('the answer', async () => {
    const { rows } = await app.query(`select from ${table} where status = 'accepted'`);
    return rows.length === 1;
  });
  const listed = await runInProcess(['outbox', 'list', shop.shop.id], commands);
  assert.match(listed.out, new RegExp(`by-command +${table} +127\\.0\\.0\\.1`));
  const bad = await runInProcess(
    ['outbox', 'add', shop.shop.id, 'bad', '--table', table],
    commands,
    'postgres://u:secret@10.0.0.1/db',
  );
  assert.equal(bad.code, 1);
  assert.match(bad.err, /private network/);
  assert.ok(!bad.err.includes('secret'));
  const removed = await runInProcess(['outbox', 'remove', shop.shop.id, 'by-command'], commands);
  assert.equal(removed.code, 0, removed.err);
  const gone = await runInProcess(['outbox', 'remove', shop.shop.id, 'by-command'], commands);
  assert.equal(gone.code, 1);
});

test('a source keeps its table, and an account has a bounded number of sources', async (t) => {
  const outbox = await Outbox.open(t);
  const moved = await owner.put(outbox.where, { table: 'other' });
  assert.equal(moved.status, 422, moved.text);
  const slower = await owner.put(outbox.where, { table: outbox.table, rowsPerSecond: 1 });
  assert.equal(slower.body.rowsPerSecond, 1, slower.text);
  const none = await owner.put(`${path}/outbox-sources/new`, { table: 'new' });
  assert.equal(none.status, 422, none.text);
});

test('the metrics count rows, and say how far the reader is behind', async (t) => {
  const outbox = await Outbox.open(t);
  await outbox.answer(await outbox.insert());
  await waitFor('the metrics', async () => {
    const { text } = await readMetrics();
    const accepted = /signalpost_outbox_rows_total\{outcome="accepted"\} (\d+)/.exec(text);
    return Number(accepted?.[1]) > 0 && /^signalpost_outbox_lag_seconds \d/m.test(text);
  });
});

function readMetrics() {
  return sendRequest(`${shop.service.url}/metrics`, {
    headers: { authorization: `Bearer ${serviceTokens.METRICS_TOKEN}` },
  });
}

testAccountFirst(20);
