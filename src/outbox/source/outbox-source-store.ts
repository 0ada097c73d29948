import { sql } from 'kysely';
import { announceChange } from '../../base/database/announce.ts';
import type { DatabaseTransaction, Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow, run } from '../../base/database/statements.ts';
import type { PublicNetworks } from '../../base/network/public-networks.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import { seal, sealedColumn, unsealAny } from '../../base/secrets/seal.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { RequiredNames } from '../../content/template/compiled-template.ts';
import {
  defaultRowsPerSecond,
  type OutboxSource,
  type SourceSettings,
  type SourceState,
} from './source-schemas.ts';
import { parseSourceUrl } from './source-url.ts';

const purpose = 'outbox source URLs';

/** Announces `account/source` once a source is added, changed or removed, and lets its reader retry it at once. */
export const outboxSourceTopic = 'outbox source';

/** Re-encrypted when the master key is rotated. */
export const sealedSourceUrls = sealedColumn({
  purpose,
  table: 'outbox_source',
  rowKey: ['account_id', 'id'],
  column: 'sealed_url',
});

const columns = sql`s.id, dialect, table_name as "table", answers_table as answers, after_accept as after, server,
  rows_per_second as "rowsPerSecond", created_at as "createdAt"`;

/** Members that a state lacks have these values. */
const state = sql`'{"readAt": null, "failingSince": null, "failure": null, "failureDetail": null, "reading": null,
  "slotBytes": null, "rowsLastMinute": 0, "failedRows": []}'::jsonb || s.state`;

/** An account's sources by id, with how far they are read and the seconds since no row was left to read. */
export async function listSources(kysely: Kysely, accountId: AccountId) {
  const rows = await allRows<OutboxSource & { state: SourceState; lagSeconds: number }>(kysely)`
    select ${columns}, ${state} - 'drainedAt' as state, greatest(extract(epoch from
      now() - coalesce((s.state->>'drainedAt')::timestamptz, created_at)), 0)::int as "lagSeconds"
    from outbox_source s where account_id = ${accountId} order by id`;
  return rows.map(({ state: read, ...source }) => ({ ...source, ...read }));
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

/** What a source is once it is saved; `sealed` is undefined if the URL is a new one. */
type SavedSource = Exclude<ReturnType<typeof changeSource>, { readonly reason: string }>;

/**
 * What a source is with other settings. Its tables stay: others may have rows with the same ids, which would count as known.
 * @returns the setting because of which it can't be saved and a reason that follows its name, if there is one
 */
export function changeSource(
  before: OpenSource | undefined,
  settings: SourceSettings,
  networks: PublicNetworks,
) {
  const given = settings.url === undefined ? before : parseSourceUrl(settings.url, networks);
  if (given !== undefined && 'reason' in given) return { field: 'url', ...given };
  for (const field of ['table', 'answers'] as const)
    if (before !== undefined && ![undefined, before[field]].includes(settings[field]))
      return { field, reason: 'can’t be changed. Add another source for another table' };
  const { table, answers = null } = before ?? settings;
  if (table === undefined || given === undefined)
    return { field: table === undefined ? 'table' : 'url', reason: 'is required for a new source' };
  const after = settings.after ?? before?.after ?? 'keep';
  const rowsPerSecond = settings.rowsPerSecond ?? before?.rowsPerSecond ?? defaultRowsPerSecond;
  return { sealed: undefined, ...given, table, answers, after, rowsPerSecond };
}

/** Failed rows that can be named at a time. */
export const maxRetryIds = 100;

/** A source for the code that changes it. */
export function sourceOf(accountId: AccountId, id: string) {
  const place = `${accountId}/${id}`;
  const resource = {
    kind: 'outbox_source',
    id,
    auditName: ({ table, server }: OutboxSource) => `${table} in ${server}`,
    read: (transaction: DatabaseTransaction) => firstRow<OutboxSource>(transaction)`
      select ${columns} from outbox_source s where account_id = ${accountId} and id = ${id}`,
  };
  /** Lets its reader retry it at once. */
  const announce = (transaction: DatabaseTransaction): Promise<void> =>
    announceChange(transaction, outboxSourceTopic, place);
  return {
    resource,
    announce,
    async save(
      transaction: DatabaseTransaction,
      key: MasterKey,
      { table, answers, dialect, server, after, rowsPerSecond, ...source }: SavedSource,
    ): Promise<void> {
      const { current } = key.keysFor(purpose);
      const sealed = source.sealed ?? seal(current, place, Buffer.from(source.url));
      await run(transaction)`
        insert into outbox_source (account_id, id, table_name, answers_table, dialect, sealed_url, server, after_accept, rows_per_second)
        values (${accountId}, ${id}, ${table}, ${answers}, ${dialect}, ${sealed}, ${server}, ${after}, ${rowsPerSecond})
        on conflict (account_id, id) do update set dialect = excluded.dialect, sealed_url = excluded.sealed_url,
          server = excluded.server, after_accept = excluded.after_accept, rows_per_second = excluded.rows_per_second`;
      await announce(transaction);
    },
    /** Its table, and the messages of its rows, stay. */
    async remove(transaction: DatabaseTransaction): Promise<void> {
      await run(transaction)`
        delete from outbox_source where account_id = ${accountId} and id = ${id}`;
      await announce(transaction);
    },
    /**
     * The change that asks its reader to send failed rows again.
     * @param ids of rows; empty: all
     */
    retry: (ids: readonly string[]) => ({
      ...resource,
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
        await announce(transaction);
      },
    }),
  };
}

const openColumns = sql`${columns}, s.account_id as "accountId", s.incarnation, sealed_url as sealed, ${state} as state,
  retry_ids as "retryIds"`;

/** A source as its reader has it. */
export interface OpenSource extends OutboxSource {
  readonly accountId: AccountId;
  readonly incarnation: string;
  readonly sealed: Buffer;
  readonly url: string;
  readonly state: SourceState;
  /** Failed rows to send again, if someone asks for it; empty: all. */
  readonly retryIds: readonly string[] | null;
}

function open(key: MasterKey, row: OpenSource): OpenSource {
  try {
    const place = `${row.accountId}/${row.id}`;
    return { ...row, url: unsealAny(key.keysFor(purpose), place, row.sealed).toString() };
  } catch {
    // Sealed with a lost key: the source fails alone.
    return { ...row, url: '' };
  }
}

/** A source with its URL; undefined if not found. */
export async function openSource(
  kysely: Kysely,
  key: MasterKey,
  accountId: AccountId,
  id: string,
): Promise<OpenSource | undefined> {
  const row = await firstRow<OpenSource>(kysely)`
    select ${openColumns} from outbox_source s where account_id = ${accountId} and id = ${id}`;
  return row && open(key, row);
}

/** A process that ends without releasing its sources is succeeded after this time. */
const leaseSeconds = 15;

/** What a process found since it last extended the lease of a source. */
export interface SourceReading extends Pick<OpenSource, 'incarnation' | 'state'> {
  /** The `retryIds` that were sent again. */
  readonly retried: OpenSource['retryIds'];
}

/**
 * Extends a process's leases, records what it found, and leases further sources that no process reads, of all accounts. A lease
 * that ends later than a new one was given before the database's clock was set back.
 * @returns the sources as they are now; without those that are another process's now, or removed
 */
export async function leaseSources(
  kysely: Kysely,
  key: MasterKey,
  owner: string,
  max: number,
  readings: readonly SourceReading[],
): Promise<OpenSource[]> {
  const rows = await allRows<OpenSource>(kysely)`
    update outbox_source s
    set lease_owner = ${owner}, lease_until = now() + ${leaseSeconds}::int * interval '1 second',
      state = coalesce(r.state, s.state), retry_ids = nullif(retry_ids, r.retried)
    from (
      select account_id, id, incarnation from outbox_source
      where lease_owner = ${owner} or lease_until is null
        or lease_until not between now() and now() + ${leaseSeconds}::int * interval '1 second'
      order by (lease_owner = ${owner}) is true desc, account_id, id limit ${max} for update) as free
    left join jsonb_to_recordset(${JSON.stringify(readings)}) as r (incarnation uuid, state jsonb, retried text[])
      on r.incarnation = free.incarnation
    where s.account_id = free.account_id and s.id = free.id returning ${openColumns}`;
  return rows.map((row) => open(key, row));
}

/** Ends the leases of a process, so that others can read at once. */
export async function releaseSources(kysely: Kysely, owner: string): Promise<void> {
  await run(kysely)`
    update outbox_source s set lease_owner = null, lease_until = null
    from (select account_id, id from outbox_source where lease_owner = ${owner}) as own
    where s.account_id = own.account_id and s.id = own.id`;
}
