import pg from 'pg';
import { OperatorError } from '../errors.ts';
import { serviceSchema } from './service-schema.ts';

interface DatabaseState {
  readonly name: string;
  readonly role: string;
  readonly encoding: string;
  /** The schema of an installation. */
  readonly installed: string | null;
  /** The first schema of the search path that exists and can be used. */
  readonly first: string | null;
  /** False if DATABASE_URL has another search path. */
  readonly wants_own: boolean;
  readonly has_own: boolean;
  readonly has_language: boolean;
  readonly can_create: boolean;
}

const readState = `select current_database() as name, current_user as role, getdatabaseencoding() as encoding,
  (select nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.oid = to_regclass('schema_migration')) as installed,
  current_schema()::text as first,
  current_setting('search_path') ~ ('(^|[, "])' || $1 || '($|[, "])') as wants_own,
  exists (select from pg_namespace where nspname = $1) as has_own,
  exists (select from pg_language where lanname = 'plpgsql') as has_language,
  has_database_privilege(current_database(), 'create') as can_create`;

/**
 * Makes the connection create objects in the schema of the installation: the existing one, or a new one. Installations
 * that began with 0.1 stay in `public`.
 * @throws OperatorError with the statement that helps, if something about the database prevents it
 */
export async function prepareSchema(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<DatabaseState>(readState, [serviceSchema]);
  const [state] = rows;
  if (state === undefined) throw new Error('the database did not describe itself');
  if (state.installed === null) requireUsable(state);
  if (state.installed === null && state.wants_own && !state.has_own)
    await client.query(`create schema if not exists ${serviceSchema}`);
  const schema = state.installed ?? (state.wants_own ? serviceSchema : state.first);
  if (schema === null)
    throw new OperatorError('No schema of the search_path in DATABASE_URL exists.');
  await requireCreate(client, schema, state.role);
  await client.query(
    "select set_config('search_path', $1 || ', ' || current_setting('search_path'), false)",
    [pg.escapeIdentifier(schema)],
  );
}

/** Checks an empty database. */
function requireUsable(state: DatabaseState): void {
  const { name, encoding } = state;
  const [database, role] = [pg.escapeIdentifier(name), pg.escapeIdentifier(state.role)];
  if (!state.has_language)
    throw new OperatorError(
      `The database ${name} has no language plpgsql. As its owner, run in it: create extension plpgsql;`,
    );
  if (encoding !== 'UTF8')
    throw new OperatorError(
      `The database ${name} has the encoding ${encoding}, which can’t store every text. Use another one: create database ${pg.escapeIdentifier(`${name}_utf8`)} owner ${role} encoding 'UTF8' template template0;`,
    );
  if (state.wants_own && !state.has_own && !state.can_create)
    throw new OperatorError(
      `The role ${state.role} can’t create schemas in the database ${name}. As its owner, run: grant create on database ${database} to ${role};`,
    );
}

async function requireCreate(client: pg.ClientBase, schema: string, role: string): Promise<void> {
  const { rows } = await client.query<{ allowed: boolean }>(
    "select has_schema_privilege($1, 'create') as allowed",
    [schema],
  );
  if (rows[0]?.allowed === true) return;
  const name = pg.escapeIdentifier(schema);
  throw new OperatorError(
    `The role ${role} can’t create tables in the schema ${schema}. As its owner, run in the same database: grant create, usage on schema ${name} to ${pg.escapeIdentifier(role)};`,
  );
}
