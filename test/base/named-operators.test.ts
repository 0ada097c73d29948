import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { listOperators } from '../../src/accounts/account/person-store.ts';
import { migrate } from '../../src/base/database/migrate.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { database } = await createTestDatabase();
const run = (statements: string) => database.pool.query(statements);

/** The database of the previous release, in which owners of every account were operators if none was named. */
beforeEach(() =>
  run(`
    drop table one_time_link; drop table if exists inbox_browser;
    delete from schema_migration where name = '0035-one-time-links.sql';
    delete from account; delete from person; update installation set demo_applied_at = null;
    insert into account (id, name) values ('1000', 'One'), ('2000', 'Two');
    insert into person (id, email, name, operator, disabled_at)
      select gen_random_uuid(), email, 'x', false, case when email like 'gone%' then now() end
      from unnest(array['both@shop.test', 'owner@shop.test', 'one@shop.test', 'gone@shop.test']) as email;
    insert into membership (account_id, person_id, role)
      select a.id, p.id, case when p.email like 'one%' and a.id = '2000' then 'developer' else 'owner' end
      from account a cross join person p`),
);

async function migratedOperators(): Promise<string[]> {
  assert.deepEqual(await migrate(database), ['0035-one-time-links.sql']);
  return listOperators(database.kysely);
}

test('people who owned every account become explicit operators', async () => {
  assert.deepEqual(await migratedOperators(), ['both@shop.test', 'owner@shop.test']);
});

test('the demo’s owner doesn’t, because the installation still awaits its first owner', async () => {
  await run('update installation set demo_applied_at = now()');
  assert.deepEqual(await migratedOperators(), ['both@shop.test']);
});

test('if there are explicit operators, nobody is added', async () => {
  await run("update person set operator = true where email = 'one@shop.test'");
  assert.deepEqual(await migratedOperators(), ['one@shop.test']);
});

test('a disabled operator doesn’t keep others from becoming one', async () => {
  await run("update person set operator = true where email = 'gone@shop.test'");
  assert.deepEqual(await migratedOperators(), ['both@shop.test', 'owner@shop.test']);
});

test('without accounts, nobody is an operator', async () => {
  await run('delete from account');
  assert.deepEqual(await migratedOperators(), []);
});
