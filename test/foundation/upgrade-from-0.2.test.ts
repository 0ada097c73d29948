/**
 * What migrations do to the rows of release 0.2. Each case has an account of its own. `rows` inserts what 0.2 wrote, by SQL
 * with the columns of its schema; then the database is migrated once for all cases, and `check` reads what became of
 * the rows. To add a case, call `upgrade(…)` anywhere above the last part of this file.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type pg from 'pg';
import { readMigrations } from '../../src/foundation/database/migration-files.ts';
import { createReleasedDatabase } from '../support/released-database.ts';

interface UpgradeCase {
  readonly name: string;
  /** The account of the case. */
  readonly account: string;
  rows(pool: pg.Pool, account: string): Promise<unknown>;
  check(pool: pg.Pool, account: string): Promise<void>;
}

const cases: UpgradeCase[] = [];

function upgrade(name: string, { rows, check }: Pick<UpgradeCase, 'rows' | 'check'>): void {
  cases.push({ name, account: `upgraded-${cases.length}`, rows, check });
}

upgrade('webhooks get replies as before', {
  rows: (pool, account) =>
    pool.query(
      `insert into webhook_endpoint (account_id, id, url, kinds, secret)
       values ($1, gen_random_uuid(), 'https://a.test/', '{replied}', '')`,
      [account],
    ),
  check: async (pool, account) => {
    const { rows } = await pool.query(
      'select permissions from webhook_endpoint where account_id = $1',
      [account],
    );
    assert.deepEqual(rows, [{ permissions: ['messages:read'] }]);
  },
});

upgrade('keys that could send any content still can, and keys limited to templates no longer', {
  rows: (pool, account) =>
    pool.query(
      `insert into api_key (account_id, id, hash, name, scopes, templates) values
        ($1, gen_random_uuid(), 'a', 'any', '{messages:send,messages:status}', null),
        ($1, gen_random_uuid(), 'b', 'limited', '{messages:send}', '{receipt}'),
        ($1, gen_random_uuid(), 'c', 'reading', '{messages:read}', null)`,
      [account],
    ),
  check: async (pool, account) => {
    const { rows } = await pool.query(
      'select name, scopes from api_key where account_id = $1 order by name',
      [account],
    );
    assert.deepEqual(rows, [
      { name: 'any', scopes: ['messages:send', 'messages:status', 'messages:send-content'] },
      { name: 'limited', scopes: ['messages:send'] },
      { name: 'reading', scopes: ['messages:read'] },
    ]);
  },
});

// The last part: all cases share one upgrade.
const { pool, upgrade: applyLater } = await createReleasedDatabase();
for (const { account, rows } of cases) {
  await pool.query("insert into account (id, name) values ($1, 'Upgraded')", [account]);
  await rows(pool, account);
}
await applyLater();

for (const { name, account, check } of cases) test(name, () => check(pool, account));

test('the upgraded database has every migration', async () => {
  const { rows } = await pool.query('select version from schema_migration order by version');
  assert.deepEqual(
    rows.map(({ version }) => version),
    (await readMigrations()).map(({ version }) => version),
  );
});
