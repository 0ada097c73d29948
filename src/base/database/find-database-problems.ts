import pg from 'pg';
import type { Database } from './open-database.ts';

/** Something about the database server that can cost mail, accepted or not. */
interface DatabaseProblem {
  readonly finding: string;
  /** With the statement that mends it. */
  readonly advice: string;
  /** False if an installation can choose to live with it. */
  readonly serious: boolean;
}

interface ServerState {
  readonly name: string;
  readonly role: string;
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly standby_names: string;
  readonly encoding: string;
  readonly locale: string;
  readonly knows_letters: boolean;
  readonly collation_changed: boolean;
  /** Application names of connected standbys. */
  readonly standbys: readonly string[];
  /** Of these, how many count as synchronous, or would if another one failed. */
  readonly synchronous: number;
  readonly hidden: boolean;
}

const readServerState = `
  select d.datname as name, current_user as role, current_setting('fsync') as fsync,
    current_setting('full_page_writes') as full_page_writes,
    current_setting('synchronous_standby_names') as standby_names,
    getdatabaseencoding() as encoding, d.datctype as locale,
    -- É and Σ. The last sigma of a word too, which \`lowerCase\` doesn't treat apart. Other encodings may lack them.
    case when getdatabaseencoding() = 'UTF8'
      then lower(convert_from('\\x49c389cea3', getdatabaseencoding()) collate "default")
        = convert_from('\\x69c3a9cf83', getdatabaseencoding()) collate "default"
      else lower('I') = 'i' end as knows_letters,
    d.datcollversion is distinct from pg_database_collation_actual_version(d.oid) as collation_changed,
    r.*
  from pg_database d cross join (
    select coalesce(array_agg(application_name), '{}') as standbys,
      count(*) filter (where sync_state in ('sync', 'quorum', 'potential'))::int as synchronous,
      coalesce(bool_or(state is null), false) as hidden
    from pg_stat_replication
    where state is null or state in ('streaming', 'catchup') and application_name <> 'pg_receivewal') as r
  where d.datname = current_database()`;

/** How PostgreSQL describes the number of standbys that a commit waits for. */
const standbyCount = /^\s*(?:(?:first|any)\s+)?(\d+)\s*\(/i;

/** Finds where the database server isn't durable, can lose mail in a failover, or stops accepting too easily. */
export async function findDatabaseProblems(pool: pg.Pool): Promise<DatabaseProblem[]> {
  const { rows } = await pool.query<ServerState>(readServerState);
  const [state] = rows;
  if (state === undefined) return [];
  return [...storageProblems(state), ...textProblems(state), ...replicationProblems(state)];
}

function storageProblems({ fsync, full_page_writes: fullPages }: ServerState): DatabaseProblem[] {
  const problems: DatabaseProblem[] = [];
  if (fsync !== 'on')
    problems.push({
      finding: 'fsync is off: a power failure can lose accepted messages and damage the database',
      advice: 'As a superuser, run: alter system set fsync = on; select pg_reload_conf();',
      serious: true,
    });
  if (fullPages !== 'on')
    problems.push({
      finding: 'full_page_writes is off: a power failure can damage the database',
      advice:
        'Unless its file system never writes parts of pages, as ZFS, run as a superuser: alter system set full_page_writes = on; select pg_reload_conf();',
      serious: false,
    });
  return problems;
}

function textProblems(state: ServerState): DatabaseProblem[] {
  const problems: DatabaseProblem[] = [];
  const name = pg.escapeIdentifier(state.name);
  if (state.collation_changed)
    problems.push({
      finding: `the system’s sort order changed since the database ${state.name} was created, so its indexes can miss rows`,
      advice: `As its owner, run in it: reindex database ${name}; alter database ${name} refresh collation version;`,
      serious: true,
    });
  if (state.encoding !== 'UTF8' || !state.knows_letters)
    problems.push({
      finding: `the database ${state.name} has the encoding ${state.encoding} and the locale ${state.locale}, which don’t know upper and lower case of all letters: É@example.com and é@example.com count as different`,
      advice: `Restore a dump into another one: create database ${pg.escapeIdentifier(`${state.name}_utf8`)} owner ${pg.escapeIdentifier(state.role)} encoding 'UTF8' locale 'C.UTF-8' template template0;`,
      serious: false,
    });
  return problems;
}

function replicationProblems(state: ServerState): DatabaseProblem[] {
  const { standbys, synchronous } = state;
  if (state.hidden)
    return [
      {
        finding: `the role ${state.role} can’t see how standbys replicate`,
        advice: `As a superuser, run: grant pg_read_all_stats to ${pg.escapeIdentifier(state.role)};`,
        serious: false,
      },
    ];
  if (state.standby_names === '') {
    if (standbys.length === 0) return [];
    return [
      {
        finding: `${standbys.join(' and ')} ${standbys.length === 1 ? 'replicates' : 'replicate'} asynchronously: a failover can lose accepted messages`,
        advice: `If it must not, run as a superuser, with at least two standbys: alter system set synchronous_standby_names = 'ANY 1 (${standbys.map((standby) => pg.escapeIdentifier(standby)).join(', ')})'; select pg_reload_conf();`,
        serious: false,
      },
    ];
  }
  const needed = Number(standbyCount.exec(state.standby_names)?.[1] ?? 1);
  const advice =
    'Add a standby, and name all of them in synchronous_standby_names: ANY 1 (standby1, standby2)';
  if (synchronous < needed)
    return [
      {
        finding: `commits wait for ${needed} synchronous standby${needed === 1 ? '' : 's'} and ${synchronous} ${synchronous === 1 ? 'is' : 'are'} connected, so nothing is accepted`,
        advice,
        serious: true,
      },
    ];
  if (synchronous > needed) return [];
  if (standbys.length > synchronous)
    return [
      {
        finding:
          'if a synchronous standby fails, nothing is accepted until it is back or another one is named',
        advice:
          'A cluster manager such as Patroni names another one within seconds. Without one, name all standbys: ANY 1 (standby1, standby2)',
        serious: false,
      },
    ];
  return [
    {
      finding: `if ${needed === 1 ? 'the only synchronous standby fails' : 'one of the synchronous standbys fails'}, nothing is accepted until it is back`,
      advice,
      serious: false,
    },
  ];
}

/** @returns the current role if it is a superuser, which can read and run files on the server; otherwise undefined */
export async function superuserName(database: Database): Promise<string | undefined> {
  const { rows } = await database.pool.query<{ name: string }>(
    'select rolname as name from pg_roles where rolname = current_user and rolsuper',
  );
  return rows[0]?.name;
}
