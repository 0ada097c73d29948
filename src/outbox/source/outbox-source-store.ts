import { sql } from 'kysely';
import { announceChange } from '../../base/database/announce.ts';
import type { DatabaseTransaction, Kysely } from '../../base/database/open-database.ts';
import { allRows, countChanged, firstRow, run } from '../../base/database/statements.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import { seal, sealedColumn, unsealAny } from '../../base/secrets/seal.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { RequiredNames } from '../../content/template/compiled-template.ts';
import { defaultRowsPerSecond, type ParsedSourceUrl, type SourceAddress } from './source-url.ts';

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
export interface OutboxSource extends Pick<SourceAddress, 'dialect'> {
  readonly id: string;
  readonly table: string;
  /** The table that gets the answers; null: the rows' own. */
  readonly answers: string | null;
  /** What happens to a row once its message is accepted. */
  readonly after: 'keep' | 'delete';
  /** Hosts, ports and database. */
  readonly server: string;
  readonly rowsPerSecond: number;
  readonly createdAt: Date;
}

/** How far a source is read. Times are in RFC 3339. */
export interface SourceState {
  /** When it was read last; null if it wasn't. */
  readonly readAt: string | null;
  /** When no row was left to read; undefined: never. */
  readonly drainedAt?: string;
  /** Since when reading has failed; null while it works. */
  readonly failingSince: string | null;
  /** The name of why it fails, such as `COLUMN_MISSING`. */
  readonly failure: string | null;
  readonly failureDetail: string | null;
  /** How its rows are found; null before it is read. */
  readonly reading: 'replication' | 'polling' | null;
  /** Bytes of WAL that its replication slot holds back; null without one. */
  readonly slotBytes: number | null;
  /** Rows answered in a minute, on average of the last one. */
  readonly rowsLastMinute: number;
  /** The latest rows that failed and weren't accepted since. */
  readonly failedRows: readonly FailedRow[];
}

/** A row that can't be sent. Its table has the whole error. */
export interface FailedRow {
  readonly id: string;
  readonly errorName: string;
  readonly detail: string;
  readonly at: string;
}

const unread: SourceState = {
  readAt: null,
  failingSince: null,
  failure: null,
  failureDetail: null,
  reading: null,
  slotBytes: null,
  rowsLastMinute: 0,
  failedRows: [],
};

/** What people set of a source; what is undefined stays, or has its default for a new one. */
export interface SourceSettings {
  readonly table?: string | undefined;
  readonly answers?: string | null | undefined;
  readonly database?: ParsedSourceUrl | undefined;
  readonly after?: OutboxSource['after'] | undefined;
  readonly rowsPerSecond?: number | undefined;
}

const columns = sql`dialect, table_name as "table", answers_table as answers, after_accept as after, server,
  rows_per_second as "rowsPerSecond", created_at as "createdAt"`;

/** A source; undefined if not found. */
function readSource(
  kysely: Kysely,
  accountId: AccountId,
  id: string,
): Promise<OutboxSource | undefined> {
  return firstRow<OutboxSource>(kysely)`
    select id, ${columns} from outbox_source where account_id = ${accountId} and id = ${id}`;
}

/** An account's sources by id, with how far they are read and the seconds since no row was left to read. */
export async function listSources(kysely: Kysely, accountId: AccountId) {
  const rows = await allRows<OutboxSource & { state: SourceState; lagSeconds: number }>(kysely)`
    select id, ${columns}, state, greatest(extract(epoch from
      now() - coalesce((state->>'drainedAt')::timestamptz, created_at)), 0)::int as "lagSeconds"
    from outbox_source where account_id = ${accountId} order by id`;
  return rows.map(({ state: { drainedAt: _, ...state }, ...source }) => ({
    ...source,
    ...unread,
    ...state,
  }));
}

/** A published template, and the values that it needs. */
export interface TemplateNeeds {
  readonly id: string;
  readonly required: RequiredNames;
}

/** What each published template of an account needs, by id. */
export function readTemplateNeeds(kysely: Kysely, accountId: AccountId): Promise<TemplateNeeds[]> {
  return allRows<TemplateNeeds>(kysely)`
    select t.id, v.compiled -> 'required' as required
    from template t join template_version v
      on v.account_id = t.account_id and v.template_id = t.id and v.version = t.published_version
    where t.account_id = ${accountId} and t.removed_at is null order by t.id`;
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

/** The setting because of which a source can't be saved, and a reason that follows its name. */
type Refusal = { readonly field: string; readonly reason: string } | undefined;

/** Its tables stay: others may have rows with the same ids, which would count as known. */
export function findSourceProblem(
  before: OutboxSource | undefined,
  settings: SourceSettings,
): Refusal {
  const { table, database } = settings;
  if (database !== undefined && 'reason' in database) return { field: 'url', ...database };
  for (const field of ['table', 'answers'] as const)
    if (before !== undefined && ![undefined, before[field]].includes(settings[field]))
      return { field, reason: 'can’t be changed. Add another source for another table' };
  if (before !== undefined || (table !== undefined && database !== undefined)) return undefined;
  return { field: table === undefined ? 'table' : 'url', reason: 'is required for a new source' };
}

/** Adds a source, or changes it. @returns why nothing is saved, if so */
export async function saveSource(
  transaction: DatabaseTransaction,
  key: MasterKey,
  accountId: AccountId,
  id: string,
  settings: SourceSettings,
): Promise<Refusal> {
  const before = await readSource(transaction, accountId, id);
  const refusal = findSourceProblem(before, settings);
  if (refusal !== undefined) return refusal;
  const { table, answers, database } = settings;
  const after = settings.after ?? before?.after ?? 'keep';
  const rowsPerSecond = settings.rowsPerSecond ?? before?.rowsPerSecond ?? defaultRowsPerSecond;
  if (database === undefined || 'reason' in database) {
    await run(transaction)`
      update outbox_source set after_accept = ${after}, rows_per_second = ${rowsPerSecond}
      where account_id = ${accountId} and id = ${id}`;
  } else {
    const { url, dialect, shown } = database;
    const sealed = seal(key.keysFor(purpose).current, `${accountId}/${id}`, Buffer.from(url));
    await run(transaction)`
      insert into outbox_source (account_id, id, table_name, answers_table, dialect, sealed_url, server, after_accept, rows_per_second)
      values (${accountId}, ${id}, ${table ?? before?.table}, ${answers ?? null}, ${dialect}, ${sealed}, ${shown}, ${after}, ${rowsPerSecond})
      on conflict (account_id, id) do update set dialect = excluded.dialect, sealed_url = excluded.sealed_url,
        server = excluded.server, after_accept = excluded.after_accept, rows_per_second = excluded.rows_per_second`;
  }
  await announceChange(transaction, outboxSourceTopic, `${accountId}/${id}`);
  return undefined;
}

/** Failed rows that can be named at a time. */
export const maxRetryIds = 100;

/**
 * The change that asks the reader of a source to send failed rows again.
 * @param ids of rows; empty: all
 */
export function retryOf(accountId: AccountId, id: string, ids: readonly string[]) {
  return {
    ...outboxSourceOf(accountId, id),
    mustExist: true,
    writeOnly: ['failedRows'],
    // Joined with what the reader hasn't done yet; all rows include any.
    async write(transaction: DatabaseTransaction): Promise<void> {
      await run(transaction)`
        update outbox_source
        set retry_ids = case
          when retry_ids = '{}' or ${ids.length} = 0 or cardinality(retry_ids) > ${maxRetryIds} then '{}'
          else coalesce(retry_ids, '{}') || ${ids}::text[] end
        where account_id = ${accountId} and id = ${id}`;
      await announceChange(transaction, outboxSourceTopic, `${accountId}/${id}`);
    },
  };
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
export interface LeasedSource extends OutboxSource {
  readonly accountId: AccountId;
  readonly incarnation: string;
  readonly url: string;
  readonly state: SourceState;
  /** Failed rows to send again, if someone asks for it; empty: all. */
  readonly retryIds: readonly string[] | null;
}

/** A process that ends without releasing its sources is succeeded after this time. */
const leaseSeconds = 15;

const leasedColumns = sql`s.id, ${columns}, s.account_id as "accountId", s.incarnation, sealed_url as sealed, s.state,
  retry_ids as "retryIds"`;

type LeasedRow = Omit<LeasedSource, 'url'> & { readonly sealed: Buffer };

function open(key: MasterKey, { sealed, ...row }: LeasedRow): LeasedSource {
  const source = { ...row, state: { ...unread, ...row.state } };
  try {
    const place = `${source.accountId}/${source.id}`;
    return { ...source, url: unsealAny(key.keysFor(purpose), place, sealed).toString() };
  } catch {
    // Sealed with a lost key: the source fails alone.
    return { ...source, url: '' };
  }
}

/** A source with its URL; undefined if not found. */
export async function openSource(
  kysely: Kysely,
  key: MasterKey,
  accountId: AccountId,
  id: string,
): Promise<LeasedSource | undefined> {
  const row = await firstRow<LeasedRow>(kysely)`
    select ${leasedColumns} from outbox_source s where account_id = ${accountId} and id = ${id}`;
  return row && open(key, row);
}

/** What a process found since it last extended the lease of a source. */
export interface SourceReading {
  readonly incarnation: string;
  readonly state: SourceState;
  /** The `retryIds` that were sent again. */
  readonly retried: readonly string[] | null;
}

/**
 * Extends a process's leases, records what it found, and leases further sources that no process reads, of all accounts.
 * @returns the sources as they are now; without those that are another process's now, or removed
 */
export async function leaseSources(
  kysely: Kysely,
  key: MasterKey,
  owner: string,
  max: number,
  readings: readonly SourceReading[],
): Promise<LeasedSource[]> {
  const rows = await allRows<LeasedRow>(kysely)`
    update outbox_source s
    set lease_owner = ${owner}, lease_until = now() + ${leaseSeconds}::int * interval '1 second',
      state = coalesce(r.state, s.state), retry_ids = nullif(retry_ids, r.retried)
    from (
      select account_id, id, incarnation from outbox_source
      where lease_owner = ${owner} or lease_until is null or lease_until <= now()
      order by (lease_owner = ${owner}) is true desc, account_id, id limit ${max} for update) as free
    left join jsonb_to_recordset(${JSON.stringify(readings)}) as r (incarnation uuid, state jsonb, retried text[])
      on r.incarnation = free.incarnation
    where s.account_id = free.account_id and s.id = free.id returning ${leasedColumns}`;
  return rows.map((row) => open(key, row));
}

/** Ends the leases of a process, so that others can read at once. */
export async function releaseSources(kysely: Kysely, owner: string): Promise<void> {
  await run(kysely)`
    update outbox_source s set lease_owner = null, lease_until = null
    from (select account_id, id from outbox_source where lease_owner = ${owner}) as own
    where s.account_id = own.account_id and s.id = own.id`;
}
