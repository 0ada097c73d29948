import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { ReadingClient } from '../../src/foundation/database/replica/reading-client.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { pool, kysely } = (await createTestDatabase()).database;

test('the primary serves a read if it isn’t known in time whether the replica is fresh enough', async () => {
  const client = new ReadingClient({
    async findReplica() {
      await kysely.transaction().execute(async (transaction) => {
        await sql`set local statement_timeout = 20`.execute(transaction);
        await sql`select pg_sleep(10)`.execute(transaction);
      });
      return undefined;
    },
    connectToPrimary: () => pool.connect(),
  });
  const { rows } = await client.query('select 1 as one', []);
  client.release();
  assert.deepEqual(rows, [{ one: 1 }]);
});
