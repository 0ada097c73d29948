import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccountId } from '../../../src/base/values/ids.ts';
import { settleAttempt } from '../../../src/sending/queue/settle-attempt.ts';
import { account, DeliveryWorld } from '../../support/delivery-world.ts';

const world = await DeliveryWorld.create();

const rounds = 16;
/** Few messages, whose claims are planned before the large account's. */
const small = Array.from({ length: 15 }, (_, index) => `small-${index}` as AccountId);
for (const accountId of small) await world.addAccount(accountId);

/** Fills the queue; each `seed` gives different ids. */
async function fill(seed: string, count: number, accountId = account): Promise<void> {
  await world.database.pool.query(
    `with ids as (
       select (substr(md5($2 || g), 1, 12) || '7' || substr(md5($2 || g), 13, 3) || '8' || substr(md5($2 || g), 16, 15))::uuid
         as id, g from generate_series(1, $3::int) g),
     stored as (
       insert into message (account_id, id, retention_days, template_id, template_version, transactional, track_opens,
         track_clicks, deliver_when_delayed, client_id, accepted_at, state_at, content)
       select $1, id, 90, 't1', 1, true, false, false, true, 'c', now(), now(), '{}' from ids)
     insert into queued_delivery (account_id, message_id, retention_days, priority, due_at, expires_at, recipient)
     select $1, id, 90, g % 2, now() - g * interval '1 ms', now() + interval '48 hours', 0 from ids`,
    [accountId, seed, count],
  );
}

/** After five executions of a statement, the planner may switch to a generic plan. */
async function deliver(most: number, accountIds = [account]): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const stores = world.stores();
    // A claim without this searches for near deadlines.
    if (round % 2 === 0) await stores.claims.findDueAccounts();
    const claimed = await stores.claims.claim(accountIds, most);
    assert.equal(claimed.length, most * accountIds.length);
    await stores.leases.markDots(claimed);
    await stores.leases.renew(claimed);
    const delivered = { recipient: 0, outcome: 'delivered' as const, reason: '250 ok' };
    const report = { results: [delivered], notes: [] };
    await stores.leases.complete(claimed.map((message) => settleAttempt(message, report, 0)));
  }
}

/** Plans depend on statistics: of a queue that was just empty, a fresh one, and an analyzed one. */
test('claims, dots and outcomes look up rows by index, however long the queue is', async () => {
  const { pool } = world.database;
  await fill('few', 64 * rounds);
  await deliver(64);
  await fill('many', 60_000);
  for (const accountId of small) await fill(accountId, 4 * 4 * rounds, accountId);
  await deliver(4, [account, ...small]);
  const readRows = async (): Promise<number> => {
    const { rows } = await pool.query<{ read: number }>(
      `select sum(pg_stat_get_tuples_returned(oid))::int as read from pg_class
       where relkind in ('r', 'p') and (relname = 'queued_delivery' or relname like 'message%')`,
    );
    return rows[0]?.read ?? 0;
  };
  for (const step of ['planned for a short one', 'fresh', 'analyzed']) {
    if (step === 'fresh') await world.database.queuePool.query('discard plans');
    if (step === 'analyzed') await pool.query('analyze');
    const before = await flushed(readRows);
    await deliver(64);
    await deliver(4, [account, ...small]);
    const read = (await flushed(readRows)) - before;
    assert.ok(read < 60_000, `${step}: ${read} rows read in sequence`);
  }
});

/** A connection reports its statistics when it is briefly idle, at the latest when it ends. */
async function flushed(read: () => Promise<number>): Promise<number> {
  await world.database.queuePool.query('select pg_stat_force_next_flush()');
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  return read();
}
