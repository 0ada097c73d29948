import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import {
  anyBehind,
  ensureCursor,
  lockCursor,
  moveCursor,
} from '../../../src/outcomes/feed/feed-cursor-store.ts';
import {
  allLanes,
  inWindow,
  nextWindow,
  piecesOf,
} from '../../../src/outcomes/feed/feed-window-store.ts';
import { throttled } from '../../../src/outcomes/feed/work-throttle.ts';
import { writeSearchRows } from '../../../src/outcomes/report/search-rows-store.ts';
import { DeliveryWorld } from '../../support/delivery-world.ts';
import { waitFor } from '../../support/wait-for.ts';

type Kysely = DeliveryWorld['database']['kysely'];

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

test('windows have every row once, wherever transactions begin and commit, in any transactions of the reader', async () => {
  const { kysely, pool } = world.database;
  const writers = await Promise.all([0, 1, 2].map(() => pool.connect()));
  const write = `insert into message_event (account_id, message_id, retention_days, id, at, kind)
    values ('a1', gen_random_uuid(), 90, gen_random_uuid(), now(), 'delivered') returning id`;
  // A number begins a writer's transaction, or commits it.
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 0, max: writers.length - 1 }) },
    { weight: 2, arbitrary: fc.constant('read' as const) },
    { weight: 1, arbitrary: fc.constant('read in another transaction' as const) },
  );
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 4, maxLength: 20 }),
    async (steps) => {
      for (const writer of writers) await writer.query('rollback');
      await pool.query('delete from message_event');
      const written: string[] = [];
      const seen: string[] = [];
      const running = new Set<number>();
      let from = '0';
      const read = async (transaction: Kysely): Promise<void> => {
        const window = await nextWindow(transaction, { from, lanes: allLanes }, 2);
        if (window === undefined) return;
        const { rows } = await sql<{ id: string }>`
          select id from message_event where ${inWindow(window, 'message_event')}`.execute(
          transaction,
        );
        seen.push(...rows.map(({ id }) => id));
        from = window.until;
      };
      const toggle = async (place: number): Promise<void> => {
        const writer = writers[place];
        if (running.delete(place)) return void (await writer?.query('commit'));
        running.add(place);
        await writer?.query('begin');
        const { rows = [] } = (await writer?.query<{ id: string }>(write)) ?? {};
        written.push(...rows.map(({ id }) => id));
      };
      const transactionFrom = (place: number): Promise<number> =>
        kysely.transaction().execute(async (transaction) => {
          for (const [index, next] of steps.slice(place).entries()) {
            if (typeof next === 'number') await toggle(next);
            else await read(transaction);
            if (next === 'read in another transaction') return place + index + 1;
          }
          return steps.length;
        });
      for (let place = 0; place < steps.length; ) place = await transactionFrom(place);
      for (const place of running) await writers[place]?.query('commit');
      // A transaction of another database of the server ends windows, too.
      await waitFor('all windows', async () => {
        await read(kysely);
        return seen.length >= written.length;
      });
      await read(kysely);
      assert.deepEqual(seen.sort(), written.sort());
    },
  );
  try {
    await fc.assert(property);
  } finally {
    for (const writer of writers) writer.release(true);
  }
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
