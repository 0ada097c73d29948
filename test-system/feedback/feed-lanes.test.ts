import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { sql } from 'kysely';
import type pg from 'pg';
import type { Database } from '../../src/base/database/open-database.ts';
import type { AccountId } from '../../src/base/values/ids.ts';
import { createLog } from '../../src/base/values/log.ts';
import { EventFeed, type Follower } from '../../src/outcomes/feed/event-feed.ts';
import {
  ensureCursor,
  lockCursor,
  moveCursor,
  repairRestoredCursors,
  splitLanes,
  waitForCursor,
} from '../../src/outcomes/feed/feed-cursor-store.ts';
import { allLanes, inWindow } from '../../src/outcomes/feed/feed-window-store.ts';
import { statementsOf } from '../../test/support/record-statements.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { waitForLock } from '../../test/support/wait-for-lock.ts';

const { database, url } = await createTestDatabase();
const { kysely, pool } = database;
const log = createLog('silent');
await pool.query(`create table test_seen (
  place bigint generated always as identity, follower text not null, account_id text not null, id uuid not null, tx xid8 not null)`);
await pool.query('delete from feed_cursor');

/** One account of each lane. */
const accounts = Array.from({ length: 8 }, (_, lane) => {
  for (let number = 1; ; number += 1) {
    const id = `lane${number}`;
    if (laneOf(id) === lane) return id as AccountId;
  }
});
const [first = '' as AccountId, second = '' as AccountId] = accounts;

function laneOf(accountId: string): number {
  return (createHash('sha256').update(accountId).digest()[0] ?? 0) & 7;
}

const insertEvents = `insert into message_event (account_id, message_id, retention_days, id, at, kind)
  select $1, gen_random_uuid(), 90, gen_random_uuid(), now(), 'delivered' from generate_series(1, $2::int)`;

/** Writes down what it gets. @param disturb fails, or does what fails, before or after that */
function recorder(
  name: string,
  disturb?: (transaction: Database['kysely'], accountIds: readonly string[]) => Promise<void>,
): Follower {
  return {
    name,
    async follow(transaction, window) {
      const { rows } = await sql<{ account_id: string }>`
        with seen as (
          insert into test_seen (follower, account_id, id, tx)
          select ${name}, account_id, id, tx from message_event where ${inWindow(window, 'message_event')} order by tx
          returning account_id)
        select distinct account_id from seen`.execute(transaction);
      await disturb?.(
        transaction,
        rows.map((row) => row.account_id),
      );
    },
  };
}

function feedOf(followers: readonly Follower[], windowRows = 20): EventFeed {
  return new EventFeed({ database, log, followers, windowRows });
}

async function lanesOf(follower: string): Promise<number[]> {
  const { rows } = await pool.query<{ lanes: number }>(
    'select lanes from feed_cursor where follower = $1 order by lanes',
    [follower],
  );
  return rows.map(({ lanes }) => lanes);
}

/** Fails unless the follower got every event once, those of an account in commit order, and each lane has one position. */
async function assertExactlyOnce(follower: string): Promise<void> {
  const lanes = await lanesOf(follower);
  assert.equal(
    lanes.reduce((all, some) => all | some, 0),
    allLanes,
  );
  assert.equal(
    lanes.reduce((all, some) => all + some, 0),
    allLanes,
  );
  const { rows } = await pool.query<{ missing: number; repeated: number; disordered: number }>(
    `with seen as (
       select account_id, id, tx, lag(tx) over (partition by account_id order by place) as earlier
       from test_seen where follower = $1)
     select (select count(*) from message_event where id not in (select id from seen))::int as missing,
       (select count(*) - count(distinct id) from seen)::int as repeated,
       (select count(*) from seen where earlier > tx)::int as disordered`,
    [follower],
  );
  assert.deepEqual(rows, [{ missing: 0, repeated: 0, disordered: 0 }]);
}

async function reset(workers = 0): Promise<void> {
  await pool.query('truncate test_seen, message_event');
  await pool.query('delete from feed_cursor');
  await pool.query('delete from service_process');
  await pool.query(
    `insert into service_process (id, host, pid, version, roles, in_flight, delay_ms)
     select gen_random_uuid(), 'test', n, '0', '{worker}', 0, 0 from generate_series(1, $1::int) n`,
    [workers],
  );
}

type Step =
  | { readonly kind: 'commit'; readonly account: number; readonly rows: number }
  | { readonly kind: 'begin'; readonly account: number; readonly rows: number }
  | { readonly kind: 'end' }
  | { readonly kind: 'follow'; readonly feeds: number; readonly faults: readonly Fault[] };
type Fault = 'none' | 'error' | 'crash' | 'first account' | 'second account';

const account = fc.integer({ min: 0, max: 7 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('commit' as const),
      account,
      rows: fc.integer({ min: 1, max: 60 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('begin' as const),
      account,
      rows: fc.integer({ min: 1, max: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('end' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('follow' as const),
      feeds: fc.integer({ min: 1, max: 3 }),
      faults: fc.array(
        fc.constantFrom<Fault>('none', 'none', 'error', 'crash', 'first account', 'second account'),
        { maxLength: 3 },
      ),
    }),
  },
);

/** Disturbs some of the windows that a feed begins. */
function disturbing(faults: readonly Fault[]): Parameters<typeof recorder>[1] {
  let window = 0;
  return async (transaction, accountIds) => {
    const fault = faults[window++ % Math.max(faults.length, 1)] ?? 'none';
    if (fault === 'error') throw new Error('wrong');
    if (fault === 'first account' && accountIds.includes(first)) throw new Error('wrong account');
    if (fault === 'second account' && accountIds.includes(second)) throw new Error('wrong account');
    if (fault === 'crash')
      await sql`select pg_terminate_backend(pg_backend_pid())`.execute(transaction);
  };
}

test('whatever is committed, fails or crashes while several processes follow, each follower gets each event once, those of an account in commit order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 25 }),
      fc.integer({ min: 0, max: 4 }),
      async (steps, workers) => {
        await reset(workers);
        const open: pg.PoolClient[] = [];
        for (const each of steps) {
          if (each.kind === 'commit')
            await pool.query(insertEvents, [accounts[each.account], each.rows]);
          else if (each.kind === 'begin' && open.length < 3) {
            const client = await pool.connect();
            open.push(client);
            await client.query('begin');
            await client.query(insertEvents, [accounts[each.account], each.rows]);
          } else if (each.kind === 'end') {
            const client = open.shift();
            await client?.query('commit');
            client?.release();
          } else if (each.kind === 'follow')
            await Promise.all(
              Array.from({ length: each.feeds }, () =>
                feedOf(
                  ['one', 'two'].map((name) => recorder(name, disturbing(each.faults))),
                ).catchUp(),
              ),
            );
        }
        for (const client of open) {
          await client.query('commit');
          client.release();
        }
        // A feed without a memory of failures. What it doesn't hold in its lanes, the next one takes.
        for (let pass = 0; pass < 2; pass += 1)
          await feedOf(['one', 'two'].map((name) => recorder(name))).catchUp();
        await assertExactlyOnce('one');
        await assertExactlyOnce('two');
      },
    ),
  );
});

test('an account whose events fail delays only its lane, which joins the others once it has caught up', async () => {
  await reset();
  for (const accountId of accounts) await pool.query(insertEvents, [accountId, 5]);
  const failing = recorder('one', async (_, accountIds) => {
    if (accountIds.includes(first)) throw new Error('wrong account');
  });
  await feedOf([failing], 1_000).catchUp();
  await pool.query(insertEvents, [second, 5]);
  await feedOf([failing], 1_000).catchUp();
  const { rows } = await pool.query<{ id: string }>(
    'select distinct account_id as id from test_seen order by 1',
  );
  assert.deepEqual(
    rows.map(({ id }) => id),
    accounts.filter((id) => id !== first).sort(),
  );
  assert.ok((await lanesOf('one')).includes(1 << laneOf(first)));
  const feed = feedOf([recorder('one')], 1_000);
  await feed.catchUp();
  await assertExactlyOnce('one');
  for (let more = 0; more < 3; more += 1) {
    await pool.query(insertEvents, [first, 1]);
    await feed.catchUp();
  }
  assert.deepEqual(await lanesOf('one'), [allLanes]);
  await assertExactlyOnce('one');
});

test('an account with a backlog of many windows doesn’t delay the events of others until it has caught up', async () => {
  await reset();
  await ensureCursor(kysely, 'one');
  for (let commit = 0; commit < 40; commit += 1) await pool.query(insertEvents, [first, 20]);
  await pool.query(insertEvents, [second, 1]);
  await feedOf([recorder('one')]).catchUp();
  const { rows } = await pool.query<{ earlier: number }>(
    `select count(*)::int as earlier from test_seen
     where place < (select place from test_seen where account_id = $1)`,
    [second],
  );
  assert.ok((rows[0]?.earlier ?? 800) < 400, `${rows[0]?.earlier} of 800 events were first`);
  await assertExactlyOnce('one');
});

test('lanes go past others that are behind, instead of keeping to their pace', async () => {
  await reset();
  await ensureCursor(kysely, 'one');
  for (let commit = 0; commit < 3; commit += 1) await pool.query(insertEvents, [first, 1]);
  const lane = 1 << laneOf(first);
  assert.ok(await splitLanes(kysely, 'one', allLanes, lane));
  await pool.query(
    `update feed_cursor set tx = (select max(tx) from message_event) where lanes = $1`,
    [lane],
  );
  const goesPast = async (behind: boolean): Promise<boolean> => {
    await pool.query(
      'update feed_cursor set rested_from = case when $2 then null else now() end where lanes = $1',
      [lane, behind],
    );
    const position = await kysely
      .transaction()
      .execute((transaction) => lockCursor(transaction, 'one'));
    return position?.next === null;
  };
  assert.equal(await goesPast(true), true);
  assert.equal(await goesPast(false), false);
});

test('lanes spread over the processes that have nothing to do', async () => {
  await reset(4);
  await ensureCursor(kysely, 'one');
  for (let commit = 0; commit < 20; commit += 1)
    for (const accountId of accounts) await pool.query(insertEvents, [accountId, 5]);
  const counts: number[] = [];
  await feedOf([
    recorder('one', async () => void counts.push((await lanesOf('one')).length)),
  ]).catchUp();
  assert.equal(Math.max(...counts), 4);
  await assertExactlyOnce('one');
});

test('while a release without lanes may run, a follower keeps one position for all', async () => {
  await reset(4);
  await pool.query("alter table feed_cursor alter column tx set default '0'");
  try {
    // As such a release creates it.
    await pool.query("insert into feed_cursor (name) values ('one')");
    for (let commit = 0; commit < 10; commit += 1)
      for (const accountId of accounts) await pool.query(insertEvents, [accountId, 5]);
    const failing = recorder('one', async (_, accountIds) => {
      if (accountIds.includes(first)) throw new Error('wrong account');
    });
    await feedOf([failing]).catchUp();
    assert.deepEqual(await lanesOf('one'), [allLanes]);
    await feedOf([recorder('one')]).catchUp();
    assert.deepEqual(await lanesOf('one'), [allLanes]);
    await assertExactlyOnce('one');
  } finally {
    await pool.query('alter table feed_cursor alter column tx drop default');
  }
});

test('a release without lanes finds no split position, and can’t start from the beginning', async () => {
  await reset();
  await ensureCursor(kysely, 'one');
  assert.ok(await splitLanes(kysely, 'one', allLanes, 1));
  const found = await pool.query(
    "select tx from feed_cursor where name = 'one' for update skip locked",
  );
  assert.equal(found.rowCount, 0);
  await assert.rejects(
    pool.query("insert into feed_cursor (name) values ('one') on conflict do nothing"),
    /null value in column "tx"/,
  );
  await ensureCursor(kysely, 'one');
  assert.deepEqual(await lanesOf('one'), [1, allLanes - 1]);
});

test('who waits for a follower in an account gets the lane of the account, also if it is split meanwhile', async () => {
  await reset();
  await ensureCursor(kysely, 'one');
  let waiting: Promise<string> | undefined;
  await kysely.transaction().execute(async (transaction) => {
    await lockCursor(transaction, 'one');
    waiting = kysely.transaction().execute((other) => waitForCursor(other, 'one', first));
    await waitForLock(database);
    await moveCursor(transaction, 'one', { lanes: allLanes, until: '7', full: true });
    assert.ok(await splitLanes(transaction, 'one', allLanes, 1 << laneOf(first)));
  });
  assert.equal(await waiting, '7');
});

test('a process that starts while another creates a follower’s position and splits it adds none', async () => {
  await reset();
  let starting: Promise<void> | undefined;
  await kysely.transaction().execute(async (transaction) => {
    await sql`insert into feed_cursor (name, tx) values ('one', '0')`.execute(transaction);
    starting = ensureCursor(kysely, 'one');
    await waitForLock(database);
    assert.ok(await splitLanes(transaction, 'one', allLanes, 1));
  });
  await starting;
  assert.deepEqual(await lanesOf('one'), [1, 254]);
});

test('all lanes together take as many statements as one, and one while nothing happens', async () => {
  await reset();
  const feed = feedOf([recorder('one'), recorder('two')]);
  await feed.catchUp();
  const statements = await statementsOf(async () => feed.catchUp());
  const upkeep = statements.filter((text) => text.startsWith('\n    select from feed_cursor'));
  assert.equal(upkeep.length, 2);
  assert.equal(statements.length - upkeep.length, 1);
  await pool.query(insertEvents, [first, 1]);
  await pool.query(insertEvents, [second, 1]);
  const busy = await statementsOf(async () => feed.catchUp());
  // Two checks; a window; for each follower: begin, lock, rows, position, commit.
  assert.equal(busy.length - upkeep.length, 2 + 1 + 2 * 5);
  assert.deepEqual(await lanesOf('one'), [allLanes]);
  assert.ok(await splitLanes(kysely, 'one', allLanes, 1));
  assert.equal((await statementsOf(async () => feed.catchUp())).length - upkeep.length, 1);
});

test('after a restore into a server with lower transaction IDs, each follower gets the events that it hadn’t processed', async () => {
  await reset();
  for (const accountId of accounts) await pool.query(insertEvents, [accountId, 3]);
  const [ahead, behind] = [recorder('one'), recorder('two')];
  await feedOf([ahead, behind]).catchUp();
  assert.ok(await splitLanes(kysely, 'one', allLanes, 1 << laneOf(first)));
  await pool.query(insertEvents, [second, 3]);
  await pool.query(insertEvents, [first, 3]);
  await feedOf([ahead]).catchUp();
  await pool.query(insertEvents, [first, 3]);
  for (const table of ['message_event', 'feed_cursor'])
    await pool.query(`update ${table} set tx = (tx::text::numeric + 1e12)::text::xid8`);
  await pool.query(`update test_seen set tx = (tx::text::numeric + 1e12)::text::xid8`);
  assert.ok(await repairRestoredCursors(kysely));
  assert.ok(!(await repairRestoredCursors(kysely)));
  await pool.query('update test_seen s set tx = e.tx from message_event e where e.id = s.id');
  await pool.query(insertEvents, [first, 3]);
  await feedOf([ahead, behind]).catchUp();
  await assertExactlyOnce('one');
  await assertExactlyOnce('two');
});

/** Two for all lanes, then for half of those left, until one is alone. */
const maxEnds = 8;

test('events that end each process that follows them hold up only their lane, and no process for long', async () => {
  await reset();
  const others = accounts.filter((id) => id !== first);
  for (const id of accounts) await pool.query(insertEvents, [id, 1]);
  const seen = async (): Promise<number> => {
    const { rows } = await pool.query('select distinct id from test_seen');
    return rows.length;
  };
  const start = () =>
    new Worker(new URL('../../test/support/follow-in-thread.ts', import.meta.url), {
      workerData: { url, name: 'ended', poison: first },
    });
  let ends = 0;
  let thread = start();
  const restart = (): void => {
    ends += 1;
    if (ends > maxEnds) return;
    thread = start();
    thread.on('exit', restart);
  };
  thread.on('exit', restart);
  try {
    await waitFor(
      'the events of the others',
      async () => (await seen()) === others.length,
      120_000,
    );
    await pool.query(insertEvents, [others[0], 1]);
    await waitFor('a later event', async () => (await seen()) === others.length + 1);
    await waitFor('the lane alone', async () => (await lanesOf('ended')).includes(1));
  } finally {
    thread.off('exit', restart);
    await thread.terminate();
  }
  assert.ok(ends <= maxEnds, `${ends} ends`);
});

test('a window is counted for the lanes that it follows, also where others are at the same position', async () => {
  await reset();
  await ensureCursor(kysely, 'counted');
  assert.ok(await splitLanes(kysely, 'counted', allLanes, 1 << laneOf(first)));
  for (const id of accounts) await pool.query(insertEvents, [id, 1]);
  const followed: { window: number; counted: number[] }[] = [];
  const feed = new EventFeed({
    database,
    log,
    followers: [
      {
        name: 'counted',
        async follow(_, window) {
          const { rows } = await pool.query<{ lanes: number }>(
            `select lanes from feed_cursor where follower = 'counted' and begun > 0`,
          );
          followed.push({ window: window.lanes, counted: rows.map(({ lanes }) => lanes) });
        },
      },
    ],
  });
  feed.start();
  await waitFor('both windows', () => followed.length >= 2);
  await feed.stop();
  assert.deepEqual(
    followed.map(({ counted }) => counted),
    followed.map(({ window }) => [window]),
  );
});

test('processes that start together don’t take each other’s windows for deaths', async () => {
  await reset();
  for (const id of accounts) await pool.query(insertEvents, [id, 1]);
  const failed: string[] = [];
  const feeds = Array.from(
    { length: 8 },
    () =>
      new EventFeed({
        database,
        log: {
          ...log,
          error: (...given: unknown[]) => failed.push(String(given[1])),
        } as typeof log,
        followers: [recorder('together')],
      }),
  );
  for (const feed of feeds) feed.start();
  await waitFor('the events', async () => {
    const { rows } = await pool.query('select from test_seen');
    return rows.length === accounts.length;
  });
  await Promise.all(feeds.map((feed) => feed.stop()));
  assert.deepEqual(failed, []);
  const { rows } = await pool.query(
    `select lanes, begun from feed_cursor where follower = 'together'`,
  );
  assert.deepEqual(rows, [{ lanes: allLanes, begun: 0 }]);
});
