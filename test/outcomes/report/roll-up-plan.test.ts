import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { allLanes, nextWindow } from '../../../src/outcomes/feed/feed-window-store.ts';
import { unthrottled } from '../../../src/outcomes/feed/work-throttle.ts';
import { rollUp } from '../../../src/outcomes/report/roll-up-store.ts';
import { account, DeliveryWorld } from '../../support/delivery-world.ts';

const world = await DeliveryWorld.create();
const { kysely } = world.database;
const count = 500;

/** Messages with their deliveries, as if accepted and delivered since the tables were created. */
async function deliverMany(): Promise<void> {
  await sql`
    with stored as (
      insert into message (account_id, id, retention_days, template_id, template_version, transactional, track_opens,
        track_clicks, deliver_when_delayed, client_id, accepted_at, state_at, content)
      select ${account}, gen_random_uuid(), 90, 't1', 1, true, false, false, true, 'c1', now(), now(),
        json_build_object('to', 'reader' || number || '@people.test', 'from', json_build_object('address', 'orders@shop.test'))
      from generate_series(1, ${count}::int) number
      returning id)
    insert into message_event (account_id, message_id, retention_days, id, at, kind, recipient)
    select ${account}, id, 90, gen_random_uuid(), now(), 'delivered', 0 from stored`.execute(
    kysely,
  );
}

test('the roll-up looks up each event’s message by its key in tables that were never analyzed, also for one lane', async () => {
  const { rows } = await sql<{ lane: number }>`
    select 1 << (get_byte(sha256(${account}::text::bytea), 0) & 7) as lane`.execute(kysely);
  const lane = rows[0]?.lane ?? 0;
  let from = '0';
  for (let window = 1; window <= 4; window += 1) {
    const lanes = window > 2 ? lane : allLanes;
    await deliverMany();
    await kysely.transaction().execute(async (transaction) => {
      const found = await nextWindow(transaction, { from, lanes }, 10 * count);
      assert.ok(found !== undefined && found.rows >= count);
      from = found.until;
      const before = await rowsRead();
      await rollUp.follow(transaction, found, unthrottled);
      const read = (await rowsRead()) - before;
      // Each message is read once as accepted and once for its event.
      assert.ok(read <= 3 * count, `window ${window} read ${read} messages`);

      async function rowsRead(): Promise<number> {
        const { rows } = await sql<{ read: number }>`
          select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as read
          from pg_stat_xact_user_tables where relname like 'message\\_90%'`.execute(transaction);
        return rows[0]?.read ?? 0;
      }
    });
  }
});
