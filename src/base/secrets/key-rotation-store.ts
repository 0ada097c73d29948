import { sql } from 'kysely';
import type { Database } from '../database/open-database.ts';
import { allRows, firstRow, run } from '../database/statements.ts';

/** The keys recorded in the database. */
export interface KeyState {
  readonly current: string | null;
  /** Set while a rotation is unfinished. */
  readonly previous: string | null;
  /** When the new key became the current one. */
  readonly switchedAt: Date | null;
  /** When every process had switched to it. */
  readonly followedAt: Date | null;
}

const state = sql`key_fingerprint as current, key_previous_fingerprint as previous,
  key_switched_at as "switchedAt", key_followed_at as "followedAt"`;

export async function readKeyState({ kysely }: Pick<Database, 'kysely'>): Promise<KeyState> {
  const rows = await allRows<KeyState>(kysely)`select ${state} from installation`;
  return rows[0] ?? { current: null, previous: null, switchedAt: null, followedAt: null };
}

/** A running process and its keys. */
export interface KeyNode {
  readonly name: string;
  readonly known: readonly string[];
  readonly current: string;
}

/**
 * Reports the keys of a process.
 * @param latestMigration the last migration of its release
 * @returns the keys recorded in the database
 */
export function recordKeyNode(
  { kysely }: Database,
  node: string,
  { name, known, current }: KeyNode,
  latestMigration: number,
): Promise<KeyState | undefined> {
  return firstRow<KeyState>(kysely)`
    with noted as (
      insert into key_node (node, name, known, current, latest_migration)
      values (${node}, ${name}, ${known}, ${current}, ${latestMigration})
      on conflict (node) do update
        set known = excluded.known, current = excluded.current, seen_at = now())
    select ${state} from installation`;
}

export async function removeKeyNode({ kysely }: Database, node: string): Promise<void> {
  await run(kysely)`delete from key_node where node = ${node}`;
}

/** For a database that no process uses, such as a restored one. */
export async function removeKeyNodes({ kysely }: Database): Promise<void> {
  await run(kysely)`delete from key_node`;
}

/** Processes seen within the given number of seconds. */
export async function readKeyNodes({ kysely }: Database, seconds: number): Promise<KeyNode[]> {
  await run(kysely)`delete from key_node where seen_at < now() - interval '1 day'`;
  return allRows<KeyNode>(kysely)`
    select name, known, current from key_node
    where seen_at > now() - ${seconds}::integer * interval '1 second' order by name`;
}

/** Makes another key the current one, and the current one the previous. */
export async function switchKey({ kysely }: Database, from: string, to: string): Promise<void> {
  await run(kysely)`
    update installation
    set key_fingerprint = ${to}, key_previous_fingerprint = ${from}, key_switched_at = now(), key_followed_at = null
    where key_fingerprint = ${from} and key_previous_fingerprint is null`;
}

/**
 * Records once that every process has switched, together with the keyed hashes existing then. Those still use the previous key,
 * until they are rehashed on use.
 */
export async function recordLeftovers({ kysely }: Database): Promise<void> {
  await kysely.transaction().execute(async (transaction) => {
    const rows = await allRows(transaction)`
      update installation set key_followed_at = now()
      where key_previous_fingerprint is not null and key_followed_at is null returning 1`;
    if (rows.length === 0) return;
    await run(transaction)`
      insert into key_leftover (hash)
        select secret_hash from integration union
        select previous_secret_hash from integration where previous_secret_until > now() union
        select hash from api_key where hint is null union
        select hash from recovery_code`;
  });
}

/** What still depends on the previous key. */
export interface KeyLeftovers {
  /** Client IDs whose secret hasn't been used since. */
  readonly integrations: readonly string[];
  /** `account: name` of API keys not used since. */
  readonly apiKeys: readonly string[];
  /** Addresses of people with recovery codes. */
  readonly people: readonly string[];
  /** Live refresh tokens not used since. */
  readonly refreshTokens: number;
}

export async function readKeyLeftovers({ kysely }: Database): Promise<KeyLeftovers> {
  const rows = await allRows<KeyLeftovers>(kysely)`
    select
      array(select client_id from integration where secret_hash in (select hash from key_leftover)
        or previous_secret_until > now() and previous_secret_hash in (select hash from key_leftover)
        order by 1) as integrations,
      array(select account_id || ': ' || name from api_key where hash in (select hash from key_leftover)
        and (expires_at is null or expires_at > now()) order by 1) as "apiKeys",
      array(select email from person where id in (
        select person_id from recovery_code where hash in (select hash from key_leftover)) order by 1) as people,
      (select count(*)::integer from session_pair, installation
        where refresh_hash is not null and changed_at < key_followed_at) as "refreshTokens"`;
  return rows[0] ?? { integrations: [], apiKeys: [], people: [], refreshTokens: 0 };
}

/** Retires the previous key: nothing made with it is accepted from then on. */
export async function endPreviousKey({ kysely }: Database, previous: string): Promise<void> {
  await kysely.transaction().execute(async (transaction) => {
    await run(transaction)`
      update installation set key_previous_fingerprint = null, key_switched_at = null, key_followed_at = null
      where key_previous_fingerprint = ${previous}`;
    await run(transaction)`delete from key_leftover`;
  });
}
