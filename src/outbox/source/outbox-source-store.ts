import { sql } from 'kysely';
import { announceChange } from '../../base/database/announce.ts';
import type { DatabaseTransaction, Kysely } from '../../base/database/open-database.ts';
import { allRows, countChanged, firstRow, run } from '../../base/database/statements.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import { seal, sealedColumn, unsealAny } from '../../base/secrets/seal.ts';
import type { AccountId } from '../../base/values/ids.ts';

const purpose = 'outbox source URLs';

/** Announces `account/source` once a source is added, changed or removed. */
export const outboxSourceTopic = 'outbox source';

/** Re-encrypted when the master key is rotated. */
export const sealedSourceUrls = sealedColumn({
  purpose,
  table: 'outbox_source',
  rowKey: ['account_id', 'id'],
  column: 'sealed_url',
});

/** A source as people see it: without its URL, which has a password. */
export interface OutboxSource {
  readonly id: string;
  readonly table: string;
  /** Host, port and database. */
  readonly server: string;
  readonly rowsPerSecond: number;
  readonly createdAt: Date;
}

/** A source with how far it is read. */
export interface ListedSource extends OutboxSource {
  /** When it was read last; null if it wasn't. */
  readonly readAt: Date | null;
  /** Seconds since no row was left to read. */
  readonly lagSeconds: number;
  /** Since when reading has failed; null while it works. */
  readonly failingSince: Date | null;
  /** The name of why it fails, such as `COLUMN_MISSING`. */
  readonly failure: string | null;
  readonly failureDetail: string | null;
}

/** What people set of a source; what is undefined stays. */
export interface SourceSettings {
  readonly table: string | undefined;
  /** The URL, and the part of it that is shown. */
  readonly database: { readonly url: string; readonly shown: string } | undefined;
  readonly rowsPerSecond: number;
}

const columns = sql`id, table_name as "table", server, rows_per_second as "rowsPerSecond",
  created_at as "createdAt"`;

const lagSeconds = sql`round(extract(epoch from greatest(now() - drained_at, interval '0')))::int`;

/** A source; undefined if not found. */
function readSource(
  kysely: Kysely,
  accountId: AccountId,
  id: string,
): Promise<OutboxSource | undefined> {
  return firstRow<OutboxSource>(kysely)`
    select ${columns} from outbox_source where account_id = ${accountId} and id = ${id}`;
}

/** An account's sources by id. */
export function listSources(kysely: Kysely, accountId: AccountId): Promise<ListedSource[]> {
  return allRows<ListedSource>(kysely)`
    select ${columns}, read_at as "readAt", ${lagSeconds} as "lagSeconds", failing_since as "failingSince", failure,
      failure_detail as "failureDetail"
    from outbox_source where account_id = ${accountId} order by id`;
}

/** Describes a source for the code that changes it. */
export function outboxSourceOf(accountId: AccountId, id: string) {
  return {
    kind: 'outbox_source',
    id,
    auditName: ({ table, server }: OutboxSource) => `${table} in ${server}`,
    read: (transaction: DatabaseTransaction) => readSource(transaction, accountId, id),
  };
}

/**
 * Adds a source, or changes it. Its table stays: another one may have rows with the same ids, which would count as known.
 * @returns the setting because of which nothing is saved, if there is one
 */
export async function saveSource(
  transaction: DatabaseTransaction,
  key: MasterKey,
  accountId: AccountId,
  id: string,
  { table, database, rowsPerSecond }: SourceSettings,
): Promise<{ readonly field: 'table' | 'url'; readonly reason: string } | undefined> {
  const before = await readSource(transaction, accountId, id);
  if (before !== undefined && table !== undefined && before.table !== table)
    return { field: 'table', reason: 'can’t be changed. Add another source for another table' };
  if (before === undefined && table === undefined) return requiredFor('table');
  if (before === undefined && database === undefined) return requiredFor('url');
  const place = `${accountId}/${id}`;
  const sealed = database && seal(key.keysFor(purpose).current, place, Buffer.from(database.url));
  if (before === undefined)
    await run(transaction)`
      insert into outbox_source (account_id, id, table_name, sealed_url, server, rows_per_second)
      values (${accountId}, ${id}, ${table}, ${sealed}, ${database?.shown}, ${rowsPerSecond})`;
  else
    await run(transaction)`
      update outbox_source set sealed_url = coalesce(${sealed ?? null}::bytea, sealed_url),
        server = coalesce(${database?.shown ?? null}::text, server), rows_per_second = ${rowsPerSecond}
      where account_id = ${accountId} and id = ${id}`;
  await announceChange(transaction, outboxSourceTopic, `${accountId}/${id}`);
  return undefined;
}

function requiredFor(field: 'table' | 'url') {
  return { field, reason: 'is required for a new source' };
}

/** Removes a source. Its table, and the messages of its rows, stay. @returns false if not found */
export async function removeSource(
  transaction: DatabaseTransaction,
  accountId: AccountId,
  id: string,
): Promise<boolean> {
  const removed = await countChanged(transaction)`
    delete from outbox_source where account_id = ${accountId} and id = ${id}`;
  await announceChange(transaction, outboxSourceTopic, `${accountId}/${id}`);
  return removed === 1;
}

/** A source that a process reads. */
export interface LeasedSource {
  readonly accountId: AccountId;
  readonly id: string;
  readonly incarnation: string;
  readonly table: string;
  readonly url: string;
  readonly rowsPerSecond: number;
  /** Seconds since no row was left to read. */
  readonly lagSeconds: number;
}

interface LeasedRow extends Omit<LeasedSource, 'url'> {
  readonly sealed: Buffer;
}

/** A process that ends without releasing its sources is succeeded after this time. */
const leaseSeconds = 15;

const leasedColumns = sql`s.account_id as "accountId", s.id, s.incarnation, s.table_name as "table", s.sealed_url as sealed,
  s.rows_per_second as "rowsPerSecond", ${lagSeconds} as "lagSeconds"`;
const lease = (owner: string) =>
  sql`lease_owner = ${owner}, lease_until = now() + ${leaseSeconds}::int * interval '1 second'`;

function open(key: MasterKey, { sealed, ...source }: LeasedRow): LeasedSource {
  const place = `${source.accountId}/${source.id}`;
  try {
    return { ...source, url: unsealAny(key.keysFor(purpose), place, sealed).toString() };
  } catch {
    // Sealed with a lost key: the source fails alone.
    return { ...source, url: '' };
  }
}

/** Leases sources that no process reads, of all accounts. */
export async function claimSources(
  kysely: Kysely,
  key: MasterKey,
  owner: string,
  max: number,
): Promise<LeasedSource[]> {
  const rows = await allRows<LeasedRow>(kysely)`
    update outbox_source s set ${lease(owner)}
    from (
      select account_id, id from outbox_source where lease_until is null or lease_until <= now()
      order by lease_until nulls first limit ${max} for update skip locked) as free
    where s.account_id = free.account_id and s.id = free.id returning ${leasedColumns}`;
  return rows.map((row) => open(key, row));
}

/** What the last look at a source found. */
export interface SourceReading {
  /** No row was left. */
  readonly isDrained: boolean;
  /** Undefined: it works. */
  readonly failure: { readonly name: string; readonly detail: string } | undefined;
}

/**
 * Extends a lease, and records what was found.
 * @returns the source as it is now; undefined if it is another process's now, or removed
 */
export async function renewLease(
  kysely: Kysely,
  key: MasterKey,
  owner: string,
  { accountId, id, incarnation }: LeasedSource,
  { isDrained, failure }: SourceReading,
): Promise<LeasedSource | undefined> {
  const { name = null, detail = null } = failure ?? {};
  const row = await firstRow<LeasedRow>(kysely)`
    update outbox_source s set ${lease(owner)},
      read_at = case when ${name}::text is null then now() else read_at end,
      drained_at = case when ${isDrained}::boolean then now() else drained_at end,
      failing_since = case when ${name}::text is not null then coalesce(failing_since, now()) end,
      failure = ${name}, failure_detail = ${detail}
    where s.account_id = ${accountId} and s.id = ${id} and s.incarnation = ${incarnation} and s.lease_owner = ${owner}
    returning ${leasedColumns}`;
  return row && open(key, row);
}

/** Ends a lease, so that another process can read at once. */
export async function releaseSource(
  kysely: Kysely,
  owner: string,
  { accountId, id }: LeasedSource,
): Promise<void> {
  await run(kysely)`
    update outbox_source set lease_owner = null, lease_until = null
    where account_id = ${accountId} and id = ${id} and lease_owner = ${owner}`;
}
