import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { nextWindow } from '../../src/feedback/feed/event-feed-store.ts';
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
