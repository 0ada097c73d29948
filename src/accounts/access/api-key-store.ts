import { sql } from 'kysely';
import { announceChange } from '../../base/database/announce.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import {
  allRows,
  firstRow,
  firstValue,
  hasRow,
  run,
  valuesOf,
} from '../../base/database/statements.ts';
import { toBlockList } from '../../base/network/ip-address.ts';
import { type AccountId, newId, type PersonId, type TemplateId } from '../../base/values/ids.ts';
import type { Role } from '../account/account.ts';
import type { StoredCredential } from './credential-cache.ts';
import { keyScopes, type Permission } from './permission.ts';
import type { KeyMode, KeyPrincipal } from './principal.ts';
import type { SigningKeyName } from './signing-secrets.ts';

/** Notification topic for API keys; the key is the account. */
export const apiKeyTopic = 'api_key';

/** What a key is limited to. */
export interface ApiKeyLimits {
  readonly scopes: readonly Permission[];
  /** CIDR networks that requests may come from; null: any. */
  readonly networks: readonly string[] | null;
  /** Templates that the key can send with; null: every template of the account. */
  readonly templates: readonly string[] | null;
}

/** An API key as the API and the command line show it. */
export interface ApiKey extends ApiKeyLimits {
  readonly id: string;
  readonly name: string;
  readonly mode: KeyMode;
  /** Null for keys created before 0.2.0. */
  readonly hint: string | null;
  /** Null for keys created on the command line. */
  readonly createdBy: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  /** It has a secret to sign requests with, as the SDKs of Amazon do. */
  readonly canSign: boolean;
  /** The key that replaced it; null if none did, or it was revoked. */
  readonly replacedBy: string | null;
}

const columns = sql`k.id, k.name, k.hint, k.mode, k.scopes, k.networks::text[] as networks, k.templates,
  p.email as "createdBy", k.created_at as "createdAt", k.expires_at as "expiresAt", k.last_used_at as "lastUsedAt",
  k.signing_secret is not null as "canSign",
  (select r.id from api_key r where r.account_id = k.account_id and r.id = k.replaced_by) as "replacedBy"`;

/** The keys of an account, newest first. */
export function readApiKeys(kysely: Kysely, accountId: AccountId): Promise<ApiKey[]> {
  return allRows<ApiKey>(kysely)`
    select ${columns} from api_key k left join person p on p.id = k.created_by
    where k.account_id = ${accountId} order by k.id desc`;
}

/** An API key of an account; undefined if it doesn't exist. */
export function readApiKey(
  kysely: Kysely,
  accountId: AccountId,
  id: string,
): Promise<ApiKey | undefined> {
  return firstRow<ApiKey>(kysely)`
    select ${columns} from api_key k left join person p on p.id = k.created_by
    where k.account_id = ${accountId} and k.id = ${id}`;
}

export async function countApiKeys(kysely: Kysely, accountId: AccountId): Promise<number> {
  const rows = await allRows<{ count: number }>(kysely)`
    select count(*)::integer as count from api_key where account_id = ${accountId}`;
  return rows[0]?.count ?? 0;
}

export async function addApiKey(
  transaction: Kysely,
  key: ApiKeyLimits & {
    readonly accountId: AccountId;
    readonly hash: Buffer;
    readonly hint: string;
    readonly name: string;
    /** Default: live. */
    readonly mode?: KeyMode | undefined;
    readonly createdBy: PersonId | undefined;
    readonly expiresAt: Date | undefined;
    /** Seals the secret of a key that signs. */
    readonly sealSecret?: ((key: SigningKeyName) => Buffer) | undefined;
  },
): Promise<string> {
  const id = newId();
  const { accountId } = key;
  await run(transaction)`
    insert into api_key (account_id, id, hash, hint, name, mode, scopes, networks, templates, created_by, expires_at,
      signing_secret)
    values (${accountId}, ${id}, ${key.hash}, ${key.hint}, ${key.name}, ${key.mode ?? 'live'}, ${key.scopes},
      case when ${key.networks}::text[] is not null then array(select network(n::inet) from unnest(${key.networks}::text[]) n) end,
      ${key.templates}, ${key.createdBy ?? null}, ${key.expiresAt ?? null},
      ${key.sealSecret?.({ accountId, id }) ?? null})`;
  return id;
}

/**
 * Sets the expiry time of a key that was replaced, effective on all nodes at commit.
 * @returns false if the account has no such key
 */
export async function expireApiKey(
  transaction: Kysely,
  accountId: AccountId,
  id: string,
  { replacedBy, expiresAt }: { readonly replacedBy: string; readonly expiresAt: Date },
): Promise<boolean> {
  const rows = await allRows(transaction)`
    update api_key set expires_at = least(expires_at, ${expiresAt}), replaced_by = ${replacedBy}
    where account_id = ${accountId} and id = ${id} returning 1`;
  await announceChange(transaction, apiKeyTopic, accountId);
  return rows.length === 1;
}

/**
 * Removes a key, effective on all nodes at commit.
 * @returns false if the account has no such key
 */
export async function removeApiKey(
  transaction: Kysely,
  accountId: AccountId,
  id: string,
): Promise<boolean> {
  const rows = await allRows(transaction)`
    delete from api_key where account_id = ${accountId} and id = ${id} returning 1`;
  await announceChange(transaction, apiKeyTopic, accountId);
  return rows.length === 1;
}

/**
 * Transfers the keys that a person created in an account to an owner of that account, so that they outlive the person's
 * role. Locks the owner's role, so that ending it concurrently removes these keys too.
 * @returns the number of keys; 0 if the recipient is not an owner
 */
export async function transferApiKeys(
  transaction: Kysely,
  accountId: AccountId,
  from: PersonId,
  to: PersonId,
): Promise<number> {
  if ((await lockRole(transaction, accountId, to)) !== 'owner') return 0;
  const rows = await allRows(transaction)`
    update api_key set created_by = ${to}
    where account_id = ${accountId} and created_by = ${from} returning 1`;
  return rows.length;
}

/**
 * Reads and locks the role of an enabled person until the transaction ends, so that whatever ends the role sees a key
 * created in this transaction.
 */
export function lockRole(
  transaction: Kysely,
  accountId: AccountId,
  personId: PersonId,
): Promise<Role | undefined> {
  return firstValue<Role>(transaction)`
    select m.role from membership m join person p on p.id = m.person_id
    where m.account_id = ${accountId} and m.person_id = ${personId} and p.disabled_at is null
    for share of m, p`;
}

/** Counts the API keys that a person created in all accounts. */
export async function countApiKeysCreatedBy(kysely: Kysely, personId: PersonId): Promise<number> {
  const rows = await allRows<{ count: number }>(kysely)`
    select count(*)::integer as count from api_key where created_by = ${personId}`;
  return rows[0]?.count ?? 0;
}

/** The accounts in which one person created API keys and another has a role. */
export function findTransferAccounts(
  kysely: Kysely,
  from: PersonId,
  to: PersonId,
): Promise<AccountId[]> {
  return valuesOf<AccountId>(kysely)`
    select m.account_id from membership m
    where m.person_id = ${to}
      and exists (select from api_key k where k.account_id = m.account_id and k.created_by = ${from})
    order by m.account_id`;
}

interface KeyRow extends ApiKeyLimits {
  readonly mode: KeyMode;
  readonly place: number;
  readonly id: string;
  readonly milliseconds_left: number | null;
}

const principalColumns = sql`k.id, k.mode, k.scopes, k.networks::text[] as networks, k.templates,
  extract(epoch from k.expires_at - now())::float8 * 1000 as milliseconds_left`;

/** The keys with these hashes that have not expired, in the order of the hashes. */
export async function findApiKeys(
  kysely: Kysely,
  lookups: readonly {
    readonly accountId: AccountId;
    readonly hash: Buffer;
  }[],
): Promise<(StoredCredential<KeyPrincipal> | undefined)[]> {
  const rows = await allRows<KeyRow>(kysely)`
    select asked.place::integer, ${principalColumns}
    from unnest(${lookups.map(({ accountId }) => accountId)}::text[], ${lookups.map(({ hash }) => hash)}::bytea[])
      with ordinality as asked (account_id, hash, place)
    join api_key k on k.account_id = asked.account_id and k.hash = asked.hash
    where k.expires_at is null or k.expires_at > now()`;
  return inOrder(lookups, rows, toPrincipal);
}

/** A key with its sealed secret. */
export interface SealedSigningKey {
  readonly principal: KeyPrincipal;
  readonly sealed: Buffer;
}

/** The keys with these IDs that can sign and have not expired, in the order of the IDs. */
export async function findSigningKeys(
  kysely: Kysely,
  names: readonly SigningKeyName[],
): Promise<(StoredCredential<SealedSigningKey> | undefined)[]> {
  const rows = await allRows<KeyRow & { readonly sealed: Buffer }>(kysely)`
    select asked.place::integer, ${principalColumns}, k.signing_secret as sealed
    from unnest(${names.map(({ accountId }) => accountId)}::text[], ${names.map(({ id }) => id)}::uuid[])
      with ordinality as asked (account_id, id, place)
    join api_key k on k.account_id = asked.account_id and k.id = asked.id
    where k.signing_secret is not null and (k.expires_at is null or k.expires_at > now())`;
  return inOrder(names, rows, (accountId, row) => ({
    principal: toPrincipal(accountId, row),
    sealed: row.sealed,
  }));
}

function inOrder<Row extends KeyRow, Holder>(
  lookups: readonly { readonly accountId: AccountId }[],
  rows: readonly Row[],
  toHolder: (accountId: AccountId, row: Row) => Holder,
): (StoredCredential<Holder> | undefined)[] {
  const found: (StoredCredential<Holder> | undefined)[] = lookups.map(() => undefined);
  for (const row of rows) {
    const accountId = lookups[row.place - 1]?.accountId;
    if (accountId === undefined) continue;
    found[row.place - 1] = {
      holder: toHolder(accountId, row),
      remainingMs: row.milliseconds_left ?? undefined,
    };
  }
  return found;
}

/** Scopes that keys can no longer have are ignored, even if the key was created with them. */
function toPrincipal(accountId: AccountId, row: KeyRow): KeyPrincipal {
  return Object.freeze({
    kind: 'key',
    keyId: row.id,
    reach: { accountId },
    scopes: new Set(row.scopes.filter((scope) => keyScopes.includes(scope))),
    networks: row.networks === null ? undefined : toBlockList(row.networks),
    templates: row.templates === null ? undefined : new Set(row.templates as TemplateId[]),
    mode: row.mode,
  });
}

/**
 * Records that keys were used just now. Keys that another node is writing or wrote recently are skipped, so that
 * nodes never wait for each other here and a busy key is written at most twice a minute.
 */
export async function recordApiKeyUsage(
  kysely: Kysely,
  used: readonly KeyPrincipal[],
): Promise<void> {
  await run(kysely)`
    with due as (
      select k.account_id, k.id from api_key k
      join unnest(${used.map(({ reach }) => reach.accountId)}::text[], ${used.map(({ keyId }) => keyId)}::uuid[])
        as used (account_id, id) on k.account_id = used.account_id and k.id = used.id
      where k.last_used_at is null or k.last_used_at < now() - interval '25 s'
      for update of k skip locked)
    update api_key k set last_used_at = now() from due
    where k.account_id = due.account_id and k.id = due.id`;
}

/** Returns the IDs that are not templates of the account. */
export function findMissingTemplates(
  kysely: Kysely,
  accountId: AccountId,
  templates: readonly string[],
): Promise<string[]> {
  return valuesOf<string>(kysely)`
    select wanted.id from unnest(${templates}::text[]) as wanted (id)
    where not exists (select from template t where t.account_id = ${accountId} and t.id = wanted.id)`;
}

/** Whether test keys can be created: not while a process runs that would send their messages as live ones. */
export function canHaveTestKeys(kysely: Kysely): Promise<boolean> {
  return hasRow(kysely)`select where to_regclass('message_7') is not null`;
}

/** Replaces a hash made with the previous master key. @returns false if there is no such key */
export async function rehashApiKey(
  kysely: Kysely,
  accountId: AccountId,
  olderHash: Buffer,
  hash: Buffer,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update api_key set hash = ${hash} where account_id = ${accountId} and hash = ${olderHash}`.execute(
    kysely,
  );
  return numAffectedRows === 1n;
}
