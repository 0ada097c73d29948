import { sql } from 'kysely';
import { announceChange } from '../../foundation/database/announce.ts';
import type { Database } from '../../foundation/database/open-database.ts';
import type { AccountId, ClientId, PersonId } from '../../foundation/ids.ts';
import { integrationTopic } from '../../session/integration-store.ts';

/**
 * Gives an integration another secret; the one that it had stays valid beside it for a while. Tells all nodes at commit.
 * @param overlap seconds
 */
export async function rotateSecret(
  transaction: Database['kysely'],
  integration: { readonly accountId: AccountId; readonly clientId: ClientId },
  secretHash: Buffer,
  overlap: number,
): Promise<void> {
  const { accountId, clientId } = integration;
  await sql`
    update integration
    set previous_secret_hash = secret_hash, previous_secret_until = now() + ${overlap}::int * interval '1 s',
      secret_hash = ${secretHash}
    where account_id = ${accountId} and client_id = ${clientId}`.execute(transaction);
  await announceChange(transaction, integrationTopic, clientId);
}

/** Sets what a manifest does not know of an integration. Tells all nodes at commit. */
export async function saveIntegrationFlags(
  transaction: Database['kysely'],
  integration: { readonly accountId: AccountId; readonly clientId: ClientId },
  flags: { readonly disabled?: boolean | undefined; readonly requirePkce?: boolean | undefined },
): Promise<void> {
  const { accountId, clientId } = integration;
  await sql`
    update integration
    set disabled_at = case ${flags.disabled ?? null}::boolean
        when true then coalesce(disabled_at, now()) when false then null else disabled_at end,
      require_pkce = coalesce(${flags.requirePkce ?? null}::boolean, require_pkce)
    where account_id = ${accountId} and client_id = ${clientId}`.execute(transaction);
  await announceChange(transaction, integrationTopic, clientId);
}

/** Somebody who let an integration act for them. */
export interface GrantedConsent {
  readonly email: string;
  readonly accountId: string;
  readonly grantedAt: Date;
}

/** The people who let an integration of an account act for them, by address. */
export async function readConsents(
  kysely: Database['kysely'],
  accountId: AccountId,
  clientId: ClientId,
): Promise<GrantedConsent[]> {
  const { rows } = await sql<GrantedConsent>`
    select p.email, c.account_id as "accountId", c.granted_at as "grantedAt"
    from consent c
    join integration i on i.client_id = c.client_id and i.account_id = ${accountId}
    join person p on p.id = c.person_id
    where c.client_id = ${clientId} order by p.email limit 1000`.execute(kysely);
  return rows;
}

/** @returns false where the person let no integration of this id and account act for them */
export async function removeConsent(
  transaction: Database['kysely'],
  accountId: AccountId,
  clientId: ClientId,
  personId: PersonId,
): Promise<boolean> {
  const { rows } = await sql`
    delete from consent c using integration i
    where i.client_id = c.client_id and i.account_id = ${accountId} and c.client_id = ${clientId}
      and c.person_id = ${personId}
    returning 1`.execute(transaction);
  return rows.length === 1;
}
