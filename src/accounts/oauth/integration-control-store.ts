import { announceChange } from '../../base/database/announce.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows } from '../../base/database/statements.ts';
import type { AccountId, ClientId } from '../../base/values/ids.ts';
import { integrationTopic } from './integration-store.ts';
import { revokeClientTokens } from './revoke-tokens-store.ts';

/** An integration as operators see it. */
export interface IntegrationOverview {
  readonly clientId: ClientId;
  readonly accountId: AccountId;
  readonly name: string;
  readonly redirectUri: string;
  readonly grants: readonly string[];
  readonly disabled: boolean;
  readonly requirePkce: boolean;
  /** Initial token requests per person in a sliding hour. */
  readonly allowance: number;
  /** When the previous secret stops working; undefined if it has already. */
  readonly previousSecretUntil: Date | undefined;
}

/** One person's use of an integration's allowance in the last hour. */
export interface AllowanceUsage {
  readonly email: string;
  readonly used: number;
  readonly left: number;
  /** When the next request is allowed, if none is left. */
  readonly freeAt: Date | null;
}

/** Settings of an integration that operators can change in addition to its registration. */
export interface IntegrationSettings {
  readonly disabled?: boolean | undefined;
  readonly requirePkce?: boolean | undefined;
  /** Initial token requests per person in a sliding hour. */
  readonly allowance?: number | undefined;
}

/** Upper limit for an integration's allowance per hour. */
export const maxAllowance = 1_000;

/** All integrations of the installation, or the one with the client id. */
export async function readIntegrationOverviews(
  kysely: Kysely,
  clientId?: ClientId,
): Promise<IntegrationOverview[]> {
  const rows = await allRows<
    Omit<IntegrationOverview, 'previousSecretUntil'> & { previousSecretUntil: Date | null }
  >(kysely)`
    select client_id as "clientId", account_id as "accountId", name, redirect_uri as "redirectUri", grants,
      disabled_at is not null as disabled, require_pkce as "requirePkce",
      initial_requests_per_hour as allowance,
      case when previous_secret_until > now() then previous_secret_until end as "previousSecretUntil"
    from integration where ${clientId ?? null}::text is null or client_id = ${clientId ?? null}
    order by account_id, client_id`;
  return rows.map((row) => ({ ...row, previousSecretUntil: row.previousSecretUntil ?? undefined }));
}

/**
 * The people who used an integration's allowance in the last hour, heaviest use first.
 */
export function readAllowanceUsage(kysely: Kysely, clientId: ClientId): Promise<AllowanceUsage[]> {
  return allRows<AllowanceUsage>(kysely)`
    select email, used, greatest(0, allowance - used) as left,
      case when used >= allowance then times[allowance] + interval '1 hour' end as "freeAt"
    from (
      select person.email, allowance, count(*)::integer as used, array_agg(t order by t desc) as times
      from session_pair
      join person on person.id = person_id
      join (select client_id, initial_requests_per_hour as allowance from integration) i using (client_id),
      unnest(initial_requests) t
      where client_id = ${clientId} and t > now() - interval '1 hour'
      group by person.email, allowance) u
    order by used desc, email limit 1000`;
}

/**
 * Changes settings that aren't part of an integration's registration. Notifies all nodes at commit.
 * @returns false if there is no such integration
 */
export async function changeIntegration(
  transaction: Kysely,
  clientId: ClientId,
  settings: IntegrationSettings,
): Promise<boolean> {
  const { disabled = null, requirePkce = null, allowance = null } = settings;
  const rows = await allRows(transaction)`
    update integration set
      disabled_at = case ${disabled}::boolean
        when true then coalesce(disabled_at, now()) when false then null else disabled_at end,
      require_pkce = coalesce(${requirePkce}::boolean, require_pkce),
      initial_requests_per_hour = coalesce(${allowance}::integer, initial_requests_per_hour)
    where client_id = ${clientId} returning 1`;
  await announceChange(transaction, integrationTopic, clientId);
  // Re-enabling must not revive old tokens.
  if (disabled === true) await revokeClientTokens(transaction, clientId);
  return rows.length === 1;
}

/**
 * Sets a new secret for an integration; the previous one works for the overlap. Notifies all nodes at commit.
 * @returns false if there is no such integration
 */
export async function rotateClientSecret(
  transaction: Kysely,
  clientId: ClientId,
  secretHash: Buffer,
  overlapSeconds: number,
): Promise<boolean> {
  const rows = await allRows(transaction)`
    update integration set
      previous_secret_hash = secret_hash,
      previous_secret_until = now() + ${overlapSeconds} * interval '1 s',
      secret_hash = ${secretHash}
    where client_id = ${clientId} returning 1`;
  await announceChange(transaction, integrationTopic, clientId);
  return rows.length === 1;
}

/** Replaces the stored hash of an unchanged secret; does nothing if the secret was changed in the meantime. */
export async function renewSecretHash(
  kysely: Kysely,
  clientId: ClientId,
  from: Uint8Array,
  to: Buffer,
): Promise<void> {
  await kysely.transaction().execute(async (transaction) => {
    const rows = await allRows(transaction)`
      update integration set secret_hash = ${to} where client_id = ${clientId} and secret_hash = ${from}
      returning 1`;
    if (rows.length === 1) await announceChange(transaction, integrationTopic, clientId);
  });
}
