import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { migrate } from '../../src/base/database/migrate.ts';
import { openDatabase } from '../../src/base/database/open-database.ts';
import {
  initializedFolder,
  queryEmbedded,
  startDatabaseOwner,
  startEmbedded,
} from '../../test/support/embedded-scene.ts';
import { oldDataFolder } from '../../test/support/old-data-folder.ts';

const rights = `select concat_ws(',', rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls)
  from pg_roles where rolname = current_user`;

/** Objects in the service's schemas that belong to other roles. */
const foreign = `select string_agg(relname, ', ') from pg_class
  where relnamespace in (select oid from pg_namespace where nspname in ('public', 'signalpost', 'graphile_worker'))
    and relowner <> (select oid from pg_roles where rolname = 'signalpost_service')`;

test('ASVS 4.0.3 1.2.1: the service uses an unprivileged database role without access to files and programs', async () => {
  const database = await startEmbedded(await initializedFolder());
  assert.equal(await queryEmbedded(database.settings, rights), 'f,f,f,f,f');
  for (const attack of [
    "copy (select 1) to program 'id'",
    "copy (select 1) to '/tmp/signalpost-attack'",
    "select pg_read_file('postgresql.conf')",
    "select pg_ls_dir('/')",
    'select * from pg_authid',
    "select lo_import('/etc/passwd')",
    'create role another superuser',
    'create database another',
    'alter role signalpost_service superuser',
    'set role signalpost',
    'set session authorization signalpost',
    'alter system set fsync = off',
    'create extension file_fdw',
  ])
    await assert.rejects(
      queryEmbedded(database.settings, attack),
      { code: /^(42501|0A000|58P01)$/ },
      attack,
    );
  await database.stop();
});

test('ASVS 4.0.3 1.2.1: the password of the service doesn’t give superuser access', async () => {
  const database = await startEmbedded(await initializedFolder());
  const stolen = { ...database.settings, user: 'signalpost' };
  await assert.rejects(queryEmbedded(stolen, 'select 1'), { code: '28P01' });
  await database.stop();
});

test('ASVS 4.0.3 5.3.8: functions of the service never run as superuser', async () => {
  const dataDir = await oldDataFolder();
  const first = await startEmbedded(dataDir);
  await queryEmbedded(
    first.settings,
    `create function public.format(text, text, name, name, name) returns text language plpgsql as
      $$ begin execute 'alter role signalpost_service superuser'; return 'select 1'; end $$`,
  );
  await queryEmbedded(
    first.settings,
    'alter database postgres set search_path = public, pg_catalog',
  );
  await queryEmbedded(first.admin, 'create table public.bait (id int)');
  await first.stop();
  const second = await startEmbedded(dataDir);
  const third = await second.stop().then(() => startEmbedded(dataDir));
  assert.equal(
    await queryEmbedded(
      third.settings,
      'select rolsuper from pg_roles where rolname = current_user',
    ),
    false,
  );
  assert.equal(
    await queryEmbedded(
      third.settings,
      "select tableowner from pg_tables where tablename = 'bait'",
    ),
    'signalpost_service',
  );
  await third.stop();
});

test('ASVS 4.0.3 1.2.2: all objects in a data folder of 0.1.0 are transferred to the unprivileged role', async () => {
  const dataDir = await oldDataFolder();
  const embedded = await startEmbedded(dataDir);
  assert.equal(await queryEmbedded(embedded.settings, rights), 'f,f,f,f,f');
  assert.equal(await queryEmbedded(embedded.settings, foreign), null);
  assert.equal(
    await queryEmbedded(embedded.settings, "select name from account where id = '1'"),
    'Kept',
  );
  const database = openDatabase(embedded.settings);
  assert.deepEqual(await migrate(database), []);
  // Only owners can do these.
  await database.pool.query('alter table account add column added text');
  await database.pool.query('drop schema graphile_worker cascade');
  await database.close();
  await embedded.stop();
});

test('ASVS 4.0.3 1.2.2: objects restored or added as superuser are transferred at the next start, except in other schemas', async () => {
  const dataDir = await initializedFolder();
  const first = await startEmbedded(dataDir);
  await queryEmbedded(
    first.admin,
    'create table public.restored (id bigserial primary key, state text)',
  );
  await queryEmbedded(first.admin, 'create view public.seen as select * from public.restored');
  await queryEmbedded(first.admin, 'create schema reporting');
  await queryEmbedded(first.admin, 'create table reporting.mine (id int)');
  await first.stop();
  const second = await startEmbedded(dataDir);
  assert.equal(await queryEmbedded(second.settings, foreign), null);
  await queryEmbedded(second.settings, 'insert into public.restored (state) values (null)');
  await assert.rejects(queryEmbedded(second.settings, 'select * from reporting.mine'), {
    code: '42501',
  });
  await second.stop();
});

test('ASVS 4.0.3 1.2.2: an ownership transfer killed at any moment is finished by the next start', async () => {
  const dataDir = await oldDataFolder();
  for (const milliseconds of [150, 200, 250, 300, 350, 400, 450, 500, 600]) {
    const owner = startDatabaseOwner(dataDir);
    await Promise.race([delay(milliseconds), owner.firstLine]);
    await owner.kill();
  }
  const embedded = await startEmbedded(dataDir);
  assert.equal(await queryEmbedded(embedded.settings, rights), 'f,f,f,f,f');
  assert.equal(await queryEmbedded(embedded.settings, foreign), null);
  assert.equal(
    await queryEmbedded(embedded.settings, "select name from account where id = '1'"),
    'Kept',
  );
  await embedded.stop();
});

test('ASVS 4.0.3 1.2.2: an ownership transfer resumes wherever it stopped', async () => {
  const dataDir = await oldDataFolder();
  const first = await startEmbedded(dataDir);
  // Every second table belongs to the superuser again, and the role has too many privileges and no password.
  await queryEmbedded(
    first.admin,
    `do $$ declare name text; begin
      for name in select format('%I.%I', schemaname, tablename) from pg_tables
        where schemaname in ('public', 'graphile_worker') and hashtext(tablename) % 2 = 0 loop
        execute 'alter table ' || name || ' owner to signalpost';
      end loop; end $$`,
  );
  await queryEmbedded(first.admin, 'alter database postgres owner to signalpost');
  await queryEmbedded(first.admin, 'alter role signalpost_service superuser password null');
  assert.notEqual(await queryEmbedded(first.admin, foreign), null);
  await first.stop();
  const second = await startEmbedded(dataDir);
  assert.equal(await queryEmbedded(second.settings, rights), 'f,f,f,f,f');
  assert.equal(await queryEmbedded(second.settings, foreign), null);
  await second.stop();
});
