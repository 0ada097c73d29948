/**
 * What migrations do to the rows of release 0.2. Each case has an account of its own. `rows` inserts what 0.2 wrote, by SQL
 * with the columns of its schema; then the database is migrated once for all cases, and `check` reads what became of
 * the rows. To add a case, call `upgrade(…)` anywhere above the last part of this file.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import type pg from 'pg';
import { permissionsOf } from '../../src/accounts/access/permission.ts';
import type { Role } from '../../src/accounts/account/account.ts';
import {
  AccountLimitReached,
  checkAccountLimits,
} from '../../src/accounts/account/account-limit-store.ts';
import { accountLimits } from '../../src/accounts/account/account-limits.ts';
import { readAccount } from '../../src/accounts/account/account-store.ts';
import { readMigrations } from '../../src/base/database/migration-files.ts';
import { SecretBox } from '../../src/outcomes/webhook/secret-box.ts';
import { createReleasedDatabase } from '../support/released-database.ts';
import { testKey } from '../support/test-service.ts';

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

const box = new SecretBox(testKey);

upgrade('webhooks keep our own format and their secret', {
  rows: (pool, account) =>
    pool.query(
      `insert into webhook_endpoint (account_id, id, url, kinds, secret)
       values ($1, gen_random_uuid(), 'https://a.test/', '{delivered}', $2)`,
      [account, box.seal('whsec_secret')],
    ),
  check: async (pool, account) => {
    const { rows } = await pool.query(
      'select format, secret from webhook_endpoint where account_id = $1',
      [account],
    );
    assert.deepEqual(
      rows.map(({ format, secret }) => [format, box.open(secret, format)]),
      [['signalpost', 'whsec_secret']],
    );
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

upgrade('events that wait for webhooks keep their time, and those that 0.2 left out are sent', {
  rows: async (pool, account) => {
    await pool.query(
      `create schema graphile_worker;
       create table graphile_worker._private_jobs (id bigint generated always as identity, key text, run_at timestamptz);
       insert into feed_cursor (name, tx) values ('webhook', pg_current_xact_id())`,
    );
    const endpoint = '00000000-0000-0000-0000-00000000000e';
    await pool.query(
      `insert into webhook_endpoint (account_id, id, url, kinds, secret)
       values ($1, $2, 'https://a.test/', '{accepted,delivered}', '')`,
      [account, endpoint],
    );
    // A message whose first event waits for a retry and whose second event 0.2 hasn't read.
    await pool.query(
      `with accepted as (
         insert into message (account_id, id, retention_days, template_id, template_version, transactional, track_opens, track_clicks,
         deliver_when_delayed, client_id, accepted_at, state_at, content, tx)
         select $1, gen_random_uuid(), 30, 'note', 1, false, false, false, true, 'test', now(), now(), '{}', '1' returning *),
       delivered as (
         insert into message_event (account_id, message_id, retention_days, id, at, kind, recipient, detail)
         select account_id, id, retention_days, gen_random_uuid(), now(), 'delivered', 0, '{"transcript":["250"]}' from accepted),
       waiting as (
         insert into webhook_delivery (account_id, endpoint_id, event_id, message_id, retention_days, kind, event_at, detail)
         select account_id, $2, id, id, retention_days, 'accepted', accepted_at, '{}' from accepted)
       insert into graphile_worker._private_jobs (key, run_at)
       select concat_ws(' ', account_id, $2::uuid, id), timestamptz '2099-01-01' from accepted`,
      [account, endpoint],
    );
    await pool.query(
      `insert into account_event_page (account_id, size, last_at, message_ids, event_ids, retention_days)
       select $1, 1, now(), array[gen_random_uuid()], array[gen_random_uuid()], '{30}' from generate_series(1, 2)`,
      [account],
    );
  },
  check: async (pool, account) => {
    const { rows } = await pool.query(
      `select kind, detail, state, due_at = '2099-01-01' as kept
       from webhook_delivery where account_id = $1 order by place`,
      [account],
    );
    assert.deepEqual(rows, [
      { kind: 'accepted', detail: {}, state: 'pending', kept: true },
      { kind: 'delivered', detail: {}, state: 'pending', kept: true },
    ]);
    const position = await pool.query(
      `select size, page = (select max(page) from account_event_page where account_id = $1) as newest
       from webhook_position where account_id = $1`,
      [account],
    );
    assert.deepEqual(position.rows, [{ size: 1, newest: true }]);
    const jobs = await pool.query("select from pg_namespace where nspname = 'graphile_worker'");
    assert.equal(jobs.rowCount, 0);
  },
});

upgrade(
  'operators are disconnected from providers of accounts, and get an email; other people stay',
  {
    rows: async (pool, account) => {
      await pool.query(
        `with people as (
         insert into person (id, email, name, operator) values
           (gen_random_uuid(), 'operator@upgraded.test', 'O', true),
           (gen_random_uuid(), 'member@upgraded.test', 'M', false)
         returning id, email)
       insert into provider_identity (id, provider_account, issuer, subject, person_id, linked, created_at)
       select gen_random_uuid(), $1, 'https://id.test', email, id, true, now() from people
       union all
       select gen_random_uuid(), null, 'https://id.test', email, id, true, now() from people`,
        [account],
      );
    },
    check: async (pool, account) => {
      const { rows } = await pool.query(
        `select p.email, i.provider_account as account from provider_identity i
       join person p on p.id = i.person_id where p.email like '%@upgraded.test' order by 1, 2`,
      );
      assert.deepEqual(rows, [
        { email: 'member@upgraded.test', account },
        { email: 'member@upgraded.test', account: null },
        { email: 'operator@upgraded.test', account: null },
      ]);
      const { rows: mails } = await pool.query(
        `select to_address as to, facts ->> 'event' as event from system_mail`,
      );
      assert.deepEqual(mails, [{ to: 'operator@upgraded.test', event: 'provider-disconnected' }]);
    },
  },
);

upgrade('fields that any published version declares secret stay secret', {
  async rows(pool, account) {
    await pool.query(
      "insert into template (account_id, id, name, created_by) values ($1, 'reset', 'Reset', gen_random_uuid())",
      [account],
    );
    await pool.query(
      `insert into template_version (account_id, template_id, version, content_hash, source, compiled, trial) values
        ($1, 'reset', 1, 'a', '{"fields": {"Token": {"secret": true}, "Name": {}}}', '{}', false),
        ($1, 'reset', 2, 'b', '{"fields": {"Token": {}}}', '{}', false),
        ($1, 'reset', 3, 'c', '{}', '{}', false),
        ($1, 'reset', -1, 'd', '{"fields": {"Name": {"secret": true}}}', '{}', true)`,
      [account],
    );
  },
  check: async (pool, account) => {
    const { rows } = await pool.query('select name from template_secret where account_id = $1', [
      account,
    ]);
    assert.deepEqual(rows, [{ name: 'Token' }]);
  },
});

upgrade('what exceeds a maximum stays, and only adding is refused', {
  rows: (pool, account) =>
    pool.query(
      `insert into webhook_endpoint (account_id, id, url, kinds, secret)
       select $1, gen_random_uuid(), 'https://a.test/', '{delivered}', '' from generate_series(1, $2)`,
      [account, accountLimits.webhooks.max + 10],
    ),
  check: async (_pool, account) => {
    const change = (text: string) =>
      database.kysely.transaction().execute(async (transaction) => {
        await sql.raw(text.replace('$1', `'${account}'`)).execute(transaction);
        await checkAccountLimits(database, transaction, account);
      });
    await change("update webhook_endpoint set url = 'https://b.test/' where account_id = $1");
    await assert.rejects(
      change(
        "insert into webhook_endpoint (account_id, id, url, kinds, secret) values ($1, gen_random_uuid(), 'https://c.test/', '{delivered}', '')",
      ),
      AccountLimitReached,
    );
    const { rowCount } = await database.pool.query(
      "select from webhook_endpoint where account_id = $1 and url = 'https://b.test/'",
      [account],
    );
    assert.equal(rowCount, accountLimits.webhooks.max + 10);
  },
});

upgrade('a quota, the archive address and the security address stay', {
  rows: (pool, account) =>
    pool.query(
      `update account set quota_per_hour = 100, quota_per_day = 1000, archive_address = 'archive@elsewhere.test',
         security_address = 'security@elsewhere.test' where id = $1`,
      [account],
    ),
  check: async (_pool, account) => {
    const found = await readAccount(database.kysely, account as never);
    assert.deepEqual(
      [found?.quota, found?.archiveAddress, found?.policy?.securityAddress],
      [{ perHour: 100, perDay: 1_000 }, 'archive@elsewhere.test', 'security@elsewhere.test'],
    );
  },
});

upgrade('people keep their roles, and those that may send may send content of their own', {
  rows: (pool, account) =>
    pool.query(
      `with people as (
         insert into person (id, email, name, operator)
         select gen_random_uuid(), role || '@roles.test', role, false
         from unnest('{owner,developer,marketer,viewer,service}'::text[]) as role returning id, name)
       insert into membership (account_id, person_id, role) select $1, id, name from people`,
      [account],
    ),
  check: async (pool, account) => {
    const { rows } = await pool.query(
      'select role from membership where account_id = $1 order by role',
      [account],
    );
    const roles = rows.map(({ role }): Role => role);
    assert.deepEqual(roles, ['developer', 'marketer', 'owner', 'service', 'viewer']);
    for (const role of roles)
      assert.equal(
        permissionsOf[role].has('messages:send-content'),
        permissionsOf[role].has('messages:send'),
        role,
      );
  },
});

// The last part: all cases share one upgrade.
const { database, pool, upgrade: applyLater } = await createReleasedDatabase();
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
