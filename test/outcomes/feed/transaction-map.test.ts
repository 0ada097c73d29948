import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import pg from 'pg';
import {
  createTransactionMap,
  mapFeedPosition,
  mapRowTransaction,
  skipTransactions,
} from '../../../src/outcomes/feed/transaction-map-store.ts';
import { createTestDatabase } from '../../support/test-database.ts';

const { database } = await createTestDatabase();

/** Rows by transaction in an installation, and the positions of its followers. */
interface Feed {
  readonly transactions: readonly bigint[];
  readonly cursors: readonly bigint[];
}

/** Runs `use` in a transaction with these rows and positions, which is undone. */
async function withFeed<Result>(
  { transactions, cursors }: Feed,
  use: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await database.pool.connect();
  try {
    await client.query('begin');
    await client.query('delete from feed_cursor');
    await client.query(
      `insert into feed_cursor (name, tx) select 'follower ' || place, tx::xid8
       from unnest($1::text[]) with ordinality as given (tx, place)`,
      [cursors.map(String)],
    );
    await client.query(
      `insert into message_event (account_id, message_id, retention_days, id, at, kind, tx)
       select 'a1', gen_random_uuid(), 90, gen_random_uuid(), now(), 'delivered', tx::xid8 from unnest($1::text[]) as tx`,
      [transactions.map(String)],
    );
    return await use(client);
  } finally {
    await client.query('rollback');
    client.release();
  }
}

/** A mapped value and what it was. */
type Mapped = readonly [before: bigint, after: bigint];

async function mapFeed(feed: Feed): Promise<{ rows: Mapped[]; cursors: Mapped[]; next: bigint }> {
  return await withFeed(feed, async (client) => {
    const next = await createTransactionMap(client);
    const read = async (table: string, after: string): Promise<Mapped[]> => {
      const { rows } = await client.query<{ before: string; after: string }>(
        `select tx::text as before, ${after}::text as after from ${table} as t order by t.tx`,
      );
      return rows.map((row) => [BigInt(row.before), BigInt(row.after)]);
    };
    const rows = await read('message_event', mapRowTransaction('t.tx'));
    return { rows, cursors: await read('feed_cursor', mapFeedPosition('t.tx')), next };
  });
}

const transaction = fc.oneof(
  fc.bigInt({ min: 1n, max: 40n }),
  fc.bigInt({ min: 2n ** 32n - 20n, max: 2n ** 32n + 20n }),
  fc.bigInt({ min: 2n ** 63n, max: 2n ** 63n + 20n }),
);

test('every follower has the same rows before and after it, in the same transactions, and no number is ahead of the next one', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(transaction, { maxLength: 400 }),
      fc.array(fc.oneof(transaction, fc.constant(0n)), { maxLength: 4 }),
      async (transactions, positions) => {
        const { rows, cursors, next } = await mapFeed({ transactions, cursors: positions });
        for (const [cursor, mapped] of cursors) {
          assert.ok(mapped <= next);
          for (const [before, after] of rows)
            assert.equal(before >= cursor, after >= mapped, `${cursor}: ${before} → ${after}`);
        }
        const lowest = positions.reduce((a, b) => (a < b ? a : b), positions[0] ?? 0n);
        rows.forEach(([before, after], index) => {
          assert.ok(after < next);
          const [earlier, mappedEarlier] = rows[index - 1] ?? [0n, 0n];
          assert.ok(mappedEarlier <= after);
          if (before >= lowest) assert.equal(before === earlier, after === mappedEarlier);
        });
      },
    ),
  );
});

test('what all followers have read takes a number for about a hundred rows', async () => {
  const transactions = Array.from({ length: 10_000 }, (_, index) => 5_000_000_000n + BigInt(index));
  const { rows, cursors, next } = await mapFeed({ transactions, cursors: [5_000_009_990n] });
  assert.equal(next - 3n, 100n + 10n);
  const sizes = new Map<bigint, number>();
  for (const [, after] of rows) sizes.set(after, (sizes.get(after) ?? 0) + 1);
  assert.ok([...sizes.values()].every((size) => size <= 100));
  assert.deepEqual(cursors, [[5_000_009_990n, 103n]]);
});

test('without rows, followers begin with the first transaction that follows', async () => {
  const { cursors, next } = await mapFeed({ transactions: [], cursors: [0n, 77n] });
  assert.equal(next, 3n);
  assert.deepEqual(cursors, [
    [0n, 3n],
    [77n, 3n],
  ]);
});

test('a server gives up transactions until a given one, and no more', async () => {
  const client = new pg.Client({ connectionString: database.pool.options.connectionString });
  await client.connect();
  try {
    const read = async (): Promise<bigint> => {
      const { rows } = await client.query<{ id: string }>(
        'select pg_current_xact_id()::text as id',
      );
      return BigInt(rows[0]?.id ?? 0);
    };
    const before = await read();
    await skipTransactions(client, before + 120_000n);
    const after = await read();
    assert.ok(after >= before + 120_000n);
    await skipTransactions(client, before);
    assert.ok((await read()) < after + 1_000n);
  } finally {
    await client.end();
  }
});
