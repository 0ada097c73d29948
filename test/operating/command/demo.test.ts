import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setOperator } from '../../../src/accounts/account/person-store.ts';
import { planDemo } from '../../../src/operating/demo-data/plan-demo.ts';
import { accountTables } from '../../support/account-first.ts';
import { readInbox } from '../../support/inbox-client.ts';
import { openManagedShop, signInToManagement } from '../../support/management-client.ts';
import { runInProcess } from '../../support/run-command.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

const { url, database } = await createTestDatabase();
const service = await startTestService({ databaseUrl: url });
const { shop } = await openManagedShop(database, service);
const environment = {
  DATABASE_URL: url,
  SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
};

function demo(...args: string[]) {
  return runInProcess(['demo', ...args], environment);
}

/** Rows of the account in every table that has its data, by table. */
async function rowsOf(accountId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of accountTables) {
    const { rows } = await database.pool.query(
      `select count(*)::int as count from ${table} where account_id = $1`,
      [accountId],
    );
    if (rows[0].count > 0) counts[table] = rows[0].count;
  }
  return counts;
}

test('demo data has no owner before there is an operator', async () => {
  const { code, err } = await demo('fill');
  assert.equal(code, 1);
  assert.match(err, /belongs to the operators, and there is none yet/);
  assert.deepEqual(await rowsOf('demo'), {});
});

test('demo fill adds an account of the operators with messages in search and reports, and sends nothing', async () => {
  await setOperator(database.kysely, shop.owner.id, true);
  const filled = await demo('fill', '--messages', '600');
  assert.equal(filled.code, 0, filled.err);
  assert.match(filled.out, /^Added the account demo with 600 messages of the last 30 days/);
  assert.doesNotMatch(filled.out, /once a worker/);

  const owner = await signInToManagement(service, shop.owner.email);
  const me = (await owner.get('/me')).body as {
    accounts: { id: string; demo: boolean; role: string }[];
  };
  assert.deepEqual(
    me.accounts.map(({ id, demo: made, role }) => [id, made, role]).sort(),
    [
      [shop.id, false, 'owner'],
      ['demo', true, 'owner'],
    ].sort(),
  );
  const account = '/accounts/demo';
  const { items } = (await owner.get(`${account}/messages?limit=1`)).body as {
    items: { id: string; to: string }[];
  };
  const [latest] = items;
  const found = await owner.get(`${account}/messages?recipient=${latest?.to}`);
  assert.ok((found.body.items as { id: string }[]).some(({ id }) => id === latest?.id));
  const detail = await owner.get(`${account}/messages/${latest?.id}`);
  assert.equal(detail.status, 200, detail.text);
  const from = new Date(Date.now() - 31 * 86_400_000).toISOString();
  const report = await owner.get(
    `${account}/reports?group=none&from=${from}&until=${new Date().toISOString()}`,
  );
  const [row] = report.body.rows as { counts: { accepted: number; delivered: number } }[];
  assert.equal(row?.counts.accepted, 600, report.text);
  assert.ok((row?.counts.delivered ?? 0) > 500);
  const counts = await rowsOf('demo');
  assert.equal(counts.template, 8);
  assert.equal(counts.queued_delivery, undefined);
  const recipients = await waitFor('the mail about the operator', async () => {
    const found = (await readInbox(service.url)).flatMap(({ envelopeTo }) => envelopeTo);
    return found.length > 0 && found;
  });
  assert.deepEqual(
    new Set(recipients),
    new Set([shop.owner.email]),
    'of whom an operator was made',
  );
  assert.equal((await demo('fill')).code, 1);
});

test('demo clear removes the account with everything in it, and nothing else', async () => {
  const before = await rowsOf(shop.id);
  const cleared = await demo('clear');
  assert.equal(cleared.out, 'Removed the account demo with everything in it.\n', cleared.err);
  const { audit_event: audited, ...left } = await rowsOf('demo');
  assert.ok((audited ?? 0) > 0, 'what was done stays in the audit log');
  assert.deepEqual(left, {});
  assert.deepEqual(await rowsOf(shop.id), before);
  const again = await demo('clear');
  assert.match(again.err, /There is no demo data to remove/);
});

test('an account that happens to have the ID of the demo data is neither filled nor removed', async () => {
  await database.pool.query(`insert into account (id, name) values ('demo', 'A real account')`);
  assert.match((await demo('fill')).err, /isn’t demo data/);
  assert.match((await demo('clear')).err, /There is no demo data to remove/);
  const { rows } = await database.pool.query(`select name from account where id = 'demo'`);
  assert.equal(rows[0]?.name, 'A real account');
});

test('a number of messages out of bounds is rejected', async () => {
  for (const count of ['0', '100001', '1e3', '-5'])
    assert.match((await demo('fill', '--messages', count)).err, /a number from 1 to 100000/);
});

test('the generated messages are of every template and outcome, in the past, and to reserved addresses', () => {
  const now = Date.parse('2026-03-01T00:10:00Z');
  const { messages, events } = planDemo(8_000, now);
  assert.equal(messages.length, 8_000);
  assert.equal(new Set(messages.map(({ templateId }) => templateId)).size, 8);
  assert.deepEqual(
    new Set(messages.map(({ state }) => state)),
    new Set(['delivered', 'bounced', 'suppressed', 'expired', 'canceled']),
  );
  const kinds = new Set(events.map(({ kind }) => kind));
  for (const kind of ['deferred', 'opened', 'clicked', 'unsubscribed', 'complained'])
    assert.ok(kinds.has(kind), kind);
  const times = messages.map(({ acceptedAt }) => acceptedAt.getTime());
  assert.ok(Math.max(...times) <= now && Math.min(...times) > now - 31 * 86_400_000);
  assert.ok(events.every(({ at }) => at.getTime() <= now));
  assert.equal(
    new Set([...messages, ...events].map(({ id }) => id)).size,
    messages.length + events.length,
  );
  assert.ok(
    messages.every(({ content }) => /"to":"[^"]+@\w+\.example"/.test(JSON.stringify(content))),
  );
});
