import { sql } from 'kysely';
import type { Database } from '../../foundation/database/open-database.ts';
import { type AccountId, newId, type PersonId } from '../../foundation/ids.ts';
import type { Permission } from './permission.ts';

type Kysely = Database['kysely'];

/** A key as people see it. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Permission[];
  readonly createdBy: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
}

/** The keys of an account, newest first. */
export async function readApiKeys(kysely: Kysely, accountId: AccountId): Promise<ApiKey[]> {
  const { rows } = await sql<ApiKey>`
    select k.id, k.name, k.scopes, p.email as "createdBy", k.created_at as "createdAt",
      k.expires_at as "expiresAt", k.last_used_at as "lastUsedAt"
    from api_key k left join person p on p.id = k.created_by
    where k.account_id = ${accountId} order by k.id desc`.execute(kysely);
  return rows;
}

export async function addApiKey(
  transaction: Kysely,
  key: {
    readonly accountId: AccountId;
    readonly hash: Buffer;
    readonly name: string;
    readonly scopes: readonly Permission[];
    readonly createdBy: PersonId | undefined;
    readonly expiresAt: Date | undefined;
  },
): Promise<string> {
  const id = newId();
  await transaction
    .insertInto('api_key')
    .values({
      account_id: key.accountId,
      id,
      hash: key.hash,
      name: key.name,
      scopes: [...key.scopes],
      created_by: key.createdBy ?? null,
      expires_at: key.expiresAt ?? null,
    })
    .execute();
  return id;
}

/** @returns false where the account has no such key */
export async function removeApiKey(
  transaction: Kysely,
  accountId: AccountId,
  id: string,
): Promise<boolean> {
  const { rows } = await sql`
    delete from api_key where account_id = ${accountId} and id = ${id} returning 1`.execute(
    transaction,
  );
  return rows.length === 1;
}

/** The key with this hash that has not expired; its last use is noted once a minute at most. */
export async function findApiKey(
  kysely: Kysely,
  accountId: AccountId,
  hash: Buffer,
  offset: number,
): Promise<{ readonly id: string; readonly scopes: readonly Permission[] } | undefined> {
  const { rows } = await sql<{ id: string; scopes: Permission[]; stale: boolean }>`
    select id, scopes, coalesce(last_used_at < now() - interval '1 minute', true) as stale from api_key
    where account_id = ${accountId} and hash = ${hash}
      and (expires_at is null or expires_at > now() + ${offset}::float8 * interval '1 ms')`.execute(
    kysely,
  );
  const [row] = rows;
  if (row?.stale === true) {
    await sql`
      update api_key set last_used_at = now() where account_id = ${accountId} and id = ${row.id}`.execute(
      kysely,
    );
  }
  return row;
}

/** Puts the hash by the current master key in the place of one by the key before. @returns false where there is no such key */
export async function rehashApiKey(
  kysely: Kysely,
  accountId: AccountId,
  older: Buffer,
  hash: Buffer,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update api_key set hash = ${hash} where account_id = ${accountId} and hash = ${older}`.execute(
    kysely,
  );
  return numAffectedRows === 1n;
}
