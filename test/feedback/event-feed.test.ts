import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import {
  anyBehind,
  ensureCursor,
  lockCursor,
  moveCursor,
  nextWindow,
} from '../../src/feedback/feed/event-feed-store.ts';
import { DeliveryWorld } from '../support/delivery-world.ts';

const world = await DeliveryWorld.create();

test('a transaction that begins while a window is looked for ends the window no later than the snapshot', async () => {
  await world.accept();
  const { kysely, pool } = world.database;
  const younger = await pool.connect();
  await kysely
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (transaction) => {
      const { rows } = await sql<{ newest: string }>`
        select pg_snapshot_xmax(pg_current_snapshot())::text as newest`.execute(transaction);
      await pool.query('select pg_current_xact_id()');
      await younger.query('begin');
      await younger.query('select pg_current_xact_id()');
      const window = await nextWindow(transaction, '0', 10);
      assert.equal(window?.until, rows[0]?.newest);
    });
  await younger.query('rollback');
  younger.release();
});

test('a follower rests after a window that was not full, in every process, and goes on at once after a full one', async () => {
  const { kysely, pool } = world.database;
  await ensureCursor(kysely, 'resting');
  const isGiven = async (): Promise<boolean> =>
    (await lockCursor(kysely, 'resting', 3_600_000)) !== undefined;
  const restedFor = (seconds: number) =>
    pool.query(
      "update feed_cursor set rested_from = now() - $1 * interval '1 s' where name = 'resting'",
      [seconds],
    );
  assert.ok(await isGiven());
  await moveCursor(kysely, 'resting', { until: '1', full: true });
  assert.ok(await isGiven());
  await moveCursor(kysely, 'resting', { until: '2', full: false });
  assert.ok(!(await isGiven()));
  assert.ok(!(await anyBehind(kysely, ['resting'], 3_600_000)));
  assert.ok(await anyBehind(kysely, ['resting'], 0));
  await restedFor(3_599);
  assert.ok(!(await isGiven()));
  await restedFor(3_601);
  assert.ok(await isGiven());
  assert.ok(await anyBehind(kysely, ['resting'], 3_600_000));
  // A clock that was set back by a minute.
  await restedFor(-60);
  assert.ok(await isGiven());
});
