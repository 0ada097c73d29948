import { type Selectable, sql } from 'kysely';
import { announceChange } from '../../base/database/announce.ts';
import type { Kysely, Tables } from '../../base/database/open-database.ts';
import type { AccountId, ClientId } from '../../base/values/ids.ts';

/** The grants that an integration can be registered for. */
export type GrantType = 'password' | 'authorization_code' | 'refresh_token';

/** A registered client program (section 5.1 rule 2). */
export interface Integration {
  readonly clientId: ClientId;
  readonly accountId: AccountId;
  readonly name: string;
  readonly redirectUri: string;
  readonly grants: ReadonlySet<GrantType>;
  readonly disabled: boolean;
  /** Hash made by `ClientSecretHasher`. */
  readonly secretHash: Buffer;
}

/** An integration with the settings that operators manage separately from its registration. */
export interface StoredIntegration extends Integration {
  /** Whether the code grant must use PKCE (RFC 7636). */
  readonly requirePkce: boolean;
  /** The previous secret and the end of its overlap, if there is one. */
  readonly previousSecret: { readonly hash: Buffer; readonly until: Date } | undefined;
  /** Initial token requests per person in a sliding hour. */
  readonly allowance: number;
}

/** Notification topic for integrations; the key is the client ID. */
export const integrationTopic = 'integration';

function toIntegration(row: Selectable<Tables['integration']>): StoredIntegration {
  return {
    clientId: row.client_id as ClientId,
    accountId: row.account_id as AccountId,
    name: row.name,
    redirectUri: row.redirect_uri,
    grants: new Set(row.grants as GrantType[]),
    disabled: row.disabled_at !== null,
    secretHash: row.secret_hash,
    requirePkce: row.require_pkce,
    previousSecret:
      row.previous_secret_hash && row.previous_secret_until
        ? { hash: row.previous_secret_hash, until: row.previous_secret_until }
        : undefined,
    allowance: row.initial_requests_per_hour,
  };
}

/** The integration with this client ID, in any account; undefined if there is none. */
export async function readIntegration(
  kysely: Kysely,
  clientId: ClientId,
): Promise<StoredIntegration | undefined> {
  const row = await kysely
    .selectFrom('integration')
    .selectAll()
    .where('client_id', '=', clientId)
    .executeTakeFirst();
  return row && toIntegration(row);
}

/** The integrations of an account, ordered by client ID. */
export async function readIntegrations(
  kysely: Kysely,
  accountId: AccountId,
): Promise<StoredIntegration[]> {
  const rows = await kysely
    .selectFrom('integration')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('client_id')
    .execute();
  return rows.map(toIntegration);
}

/**
 * Creates or updates an integration and notifies all nodes at commit. Never takes over another
 * account's client ID.
 * @returns false if another account has this client ID
 */
export async function saveIntegration(
  transaction: Kysely,
  integration: Integration,
): Promise<boolean> {
  const row = {
    name: integration.name,
    redirect_uri: integration.redirectUri,
    grants: [...integration.grants].sort(),
    disabled_at: integration.disabled ? new Date() : null,
    secret_hash: integration.secretHash,
  };
  const saved = await transaction
    .insertInto('integration')
    .values({ client_id: integration.clientId, account_id: integration.accountId, ...row })
    .onConflict((conflict) =>
      conflict
        .column('client_id')
        .doUpdateSet({
          ...row,
          disabled_at: integration.disabled
            ? sql<Date>`coalesce(integration.disabled_at, excluded.disabled_at)`
            : null,
          // A new secret ends the overlap of a rotation; the same one doesn't.
          previous_secret_until: sql<Date>`
            case when integration.secret_hash = excluded.secret_hash then integration.previous_secret_until end`,
        })
        .where('integration.account_id', '=', integration.accountId),
    )
    .returning('client_id')
    .executeTakeFirst();
  await announceChange(transaction, integrationTopic, integration.clientId);
  return saved !== undefined;
}

/** Removes an integration and its tokens, and notifies all nodes at commit. */
export async function removeIntegration(
  transaction: Kysely,
  accountId: AccountId,
  clientId: ClientId,
): Promise<void> {
  await transaction
    .deleteFrom('integration')
    .where('account_id', '=', accountId)
    .where('client_id', '=', clientId)
    .execute();
  await announceChange(transaction, integrationTopic, clientId);
}

export type FindIntegration = (
  clientId: string,
) => Promise<StoredIntegration | undefined> | StoredIntegration | undefined;
