import pg from 'pg';
import { serviceSchema } from '../foundation/database/service-schema.ts';
import { type ConnectionSettings, DATABASE_NAME, SERVICE_ROLE } from './connection-settings.ts';

/** Schemas of the service, also of webhook jobs in 0.2, which a migration drops. Other schemas keep their owner. */
const SCHEMAS = ['public', serviceSchema, 'graphile_worker'];

/**
 * Gives the service an unprivileged role that owns its database (ASVS 4.0.3 1.2.1, 1.2.2), so that a vulnerable
 * statement can't reach files or programs of the machine. In clusters of release 0.1.0, where the superuser owns
 * everything, ownership is transferred.
 *
 * Runs before the database is used. After a crash between statements, the next start does the rest.
 */
export async function prepareServiceRole(
  admin: ConnectionSettings,
  service: ConnectionSettings,
): Promise<void> {
  // The service's role may create functions in `public`, which must not shadow PostgreSQL's own here.
  const client = new pg.Client({ ...admin, options: '-c search_path=pg_catalog,pg_temp' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await ensureRole(client, service.password);
    for (const statement of await ownershipStatements(client)) await client.query(statement);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Sets password and attributes each time, which repairs a lost password file or an altered role. */
async function ensureRole(client: pg.Client, password: string): Promise<void> {
  const found = await client.query('select from pg_roles where rolname = $1', [SERVICE_ROLE]);
  if (found.rowCount === 0) await client.query(`create role ${SERVICE_ROLE}`);
  // base64url has no characters that are special in SQL strings.
  await client.query(
    `alter role ${SERVICE_ROLE} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password '${password}'`,
  );
  // The event followers wait for the oldest transaction, so they must see sessions of other roles.
  await client.query(`grant pg_read_all_stats to ${SERVICE_ROLE}`);
}

/** A statement for each object that the service should own but doesn't; the database itself comes last. */
async function ownershipStatements(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ statement: string }>(foreignObjects, [
    SCHEMAS,
    SERVICE_ROLE,
    DATABASE_NAME,
  ]);
  return rows.map((row) => row.statement);
}

/**
 * Indexes, row types and column sequences follow their tables. Members of extensions belong to their extension. The
 * schema `public` belongs to the database owner implicitly.
 */
const foreignObjects = `
  with service as (select oid from pg_roles where rolname = $2),
  spaces as (select oid, nspname, nspowner from pg_namespace where nspname = any ($1)),
  found (place, statement) as (
    select 1, format('alter schema %I owner to %I', nspname, $2) from spaces
      where nspowner <> (select oid from service) and nspname <> 'public'
    union all
    select 2, format('alter %s %I.%I owner to %I',
        case relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence'
          when 'f' then 'foreign table' when 'c' then 'type' else 'table' end, nspname, relname, $2)
      from pg_class join spaces on spaces.oid = relnamespace
      where relkind in ('r', 'p', 'v', 'm', 'S', 'f', 'c') and relowner <> (select oid from service)
        and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid
          and (deptype = 'e' or relkind = 'S' and deptype in ('a', 'i')))
    union all
    select 3, format('alter routine %s owner to %I', pg_proc.oid::regprocedure, $2)
      from pg_proc join spaces on spaces.oid = pronamespace
      where proowner <> (select oid from service)
        and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = pg_proc.oid and deptype = 'e')
    union all
    select 4, format('alter type %I.%I owner to %I', nspname, typname, $2)
      from pg_type join spaces on spaces.oid = typnamespace
      where typtype in ('e', 'd', 'r') and typowner <> (select oid from service)
        and not exists (select from pg_depend where classid = 'pg_type'::regclass and objid = pg_type.oid and deptype in ('i', 'e'))
    union all
    select 5, format('alter statistics %I.%I owner to %I', nspname, stxname, $2)
      from pg_statistic_ext join spaces on spaces.oid = stxnamespace where stxowner <> (select oid from service)
    union all
    select 6, format('alter database %I owner to %I', datname, $2)
      from pg_database where datname = $3 and datdba <> (select oid from service))
  select statement from found order by place`;
