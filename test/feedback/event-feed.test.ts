import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import {
  anyBehind,
  ensureCursor,
  lockCursor,
  moveCursor,
} from '../../src/feedback/feed/feed-cursor-store.ts';
import { allLanes, nextWindow, piecesOf } from '../../src/feedback/feed/feed-window-store.ts';
import { throttled } from '../../src/feedback/feed/work-throttle.ts';
import { writeSearchRows } from '../../src/report/search-rows-store.ts';
import { DeliveryWorld } from '../support/delivery-world.ts';

const world = await DeliveryWorld.create();

test('a transaction that begins during the search for a window ends the window no later than the snapshot', async () => {
  await world.accept();
  const { kysely, pool } = world.database;
  const newerClient = await pool.connect();
  await kysely
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (transaction) => {
      const { rows } = await sql<{ newest: string }>`
        select pg_snapshot_xmax(pg_current_snapshot())::text as newest`.execute(transaction);
      await pool.query('select pg_current_xact_id()');
      await newerClient.query('begin');
      await newerClient.query('select pg_current_xact_id()');
      const window = await nextWindow(transaction, { from: '0', lanes: allLanes }, 10);
      assert.equal(window?.until, rows[0]?.newest);
    });
  await newerClient.query('rollback');
  newerClient.release();
});

test('a follower pauses after a partial window, in every process, and continues at once after a full one', async () => {
  const { kysely, pool } = world.database;
  await ensureCursor(kysely, 'resting');
  const isOffered = async (): Promise<boolean> =>
    (await lockCursor(kysely, 'resting', { rest: 3_600_000 })) !== undefined;
  const setRestedSeconds = (seconds: number) =>
    pool.query(
      "update feed_cursor set rested_from = now() - $1 * interval '1 s' where name = 'resting'",
      [seconds],
    );
  assert.ok(await isOffered());
  await moveCursor(kysely, 'resting', { lanes: allLanes, until: '1', full: true });
  assert.ok(await isOffered());
  await moveCursor(kysely, 'resting', { lanes: allLanes, until: '2', full: false });
  assert.ok(!(await isOffered()));
  assert.ok(!(await anyBehind(kysely, ['resting'], [3_600_000])));
  assert.ok(await anyBehind(kysely, ['resting'], [0]));
  await setRestedSeconds(3_599);
  assert.ok(!(await isOffered()));
  await setRestedSeconds(3_601);
  assert.ok(await isOffered());
  assert.ok(await anyBehind(kysely, ['resting'], [3_600_000]));
  // A clock set back by a minute.
  await setRestedSeconds(-60);
  assert.ok(await isOffered());
});

test('each follower rests for its own time', async () => {
  const { kysely } = world.database;
  for (const name of ['short', 'long']) {
    await ensureCursor(kysely, name);
    await moveCursor(kysely, name, { lanes: allLanes, until: '1', full: false });
  }
  const behind = (rests: readonly number[]) => anyBehind(kysely, ['short', 'long'], rests);
  assert.ok(await behind([0, 3_600_000]));
  assert.ok(await behind([3_600_000, 0]));
  assert.ok(!(await behind([3_600_000, 3_600_000])));
});

test('the pieces of a window cover it in order, and none is empty', () => {
  const place = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
  fc.assert(
    fc.property(place, place, fc.uniqueArray(place), (one, other, cuts) => {
      cuts.sort((a, b) => (a < b ? -1 : 1));
      fc.pre(one !== other);
      const [from, until] = (one < other ? [one, other] : [other, one]).map(String) as [
        string,
        string,
      ];
      const pieces = piecesOf({ from, until, lanes: 1, cuts: cuts.map(String) });
      assert.equal(pieces[0]?.from, from);
      assert.equal(pieces.at(-1)?.until, until);
      pieces.forEach((piece, index) => {
        assert.ok(BigInt(piece.from) < BigInt(piece.until));
        if (index > 0) assert.equal(piece.from, pieces[index - 1]?.until);
      });
    }),
  );
});

test('search rows of a window with several hundred messages are written completely, a hundred at a time', async () => {
  const { kysely, pool } = world.database;
  const { rows } = await pool.query<{ tx: string }>('select pg_current_xact_id()::text as tx');
  const from = rows[0]?.tx ?? '0';
  const ids: string[] = [];
  for (let count = 0; count < 350; count += 1) ids.push(await world.accept());
  let pieces = 0;
  await kysely.transaction().execute(async (transaction) => {
    const window = await nextWindow(transaction, { from, lanes: allLanes }, 5_000);
    assert.ok(window !== undefined);
    await writeSearchRows.follow(transaction, window, async (piece) => {
      pieces += 1;
      await piece();
    });
  });
  assert.equal(pieces, 4);
  const found = await pool.query(
    'select message_id from message_search where message_id = any ($1::uuid[]) and recipient = 0',
    [ids],
  );
  assert.equal(found.rowCount, ids.length);
});

test('the search row of a message that was already sent is written once, with the state of then', async () => {
  const { kysely, pool } = world.database;
  const { rows } = await pool.query<{ tx: string }>('select pg_current_xact_id()::text as tx');
  const id = await world.accept();
  const delivered = { recipient: 0, outcome: 'delivered' as const, reason: '250 ok' };
  const worker = world.worker(async () => ({ results: [delivered], notes: [] }));
  worker.start();
  await world.waitForState(id, 'delivered');
  await worker.stop();
  await pool.query(`
    create function test_refuse() returns trigger language plpgsql as $$ begin raise 'an update'; end $$;
    create trigger test_refuse before update on message_search for each row when (old.message_id = '${id}')
      execute function test_refuse()`);
  try {
    await kysely.transaction().execute(async (transaction) => {
      const from = rows[0]?.tx ?? '0';
      const window = await nextWindow(transaction, { from, lanes: allLanes }, 5_000);
      assert.ok(window !== undefined);
      await writeSearchRows.follow(transaction, window, (piece) => piece());
    });
  } finally {
    await pool.query('drop trigger test_refuse on message_search; drop function test_refuse');
  }
  const found = await pool.query('select state from message_search where message_id = $1', [id]);
  assert.deepEqual(found.rows, [{ state: 'delivered' }]);
});

test('a piece starts after a pause of six times the duration of the previous one', async () => {
  const pace = throttled(new AbortController().signal);
  const starts: number[] = [];
  const work = async (): Promise<void> => {
    starts.push(performance.now());
    while (performance.now() < (starts.at(-1) ?? 0) + 10);
  };
  await pace(work);
  await pace(work);
  assert.ok((starts[1] ?? 0) - (starts[0] ?? 0) >= 69);
});
