import { sql } from 'kysely';
import { announceChange } from '../foundation/database/announce.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { ClientId } from '../foundation/ids.ts';
import { endTokensOfClient } from './end-tokens-store.ts';
import { integrationTopic } from './integration-store.ts';

/** What an operator sees of an integration. */
export interface IntegrationOverview {
  readonly clientId: string;
  readonly accountId: string;
  readonly name: string;
  readonly redirectUri: string;
  readonly grants: readonly string[];
  readonly disabled: boolean;
  readonly requirePkce: boolean;
  /** Initial token requests per person in a sliding hour. */
  readonly allowance: number;
  /** When the secret before the last rotation ends, where it still works. */
  readonly previousSecretUntil: Date | undefined;
}

/** How much of the allowance one person has used with an integration in the last hour. */
export interface AllowanceUse {
  readonly email: string;
  readonly used: number;
}

/** What an operator can change of an integration beside its registration. */
export interface IntegrationSettings {
  readonly disabled?: boolean;
  readonly requirePkce?: boolean;
  readonly allowance?: number;
}

/** Most initial token requests an hour that an allowance can be lifted to. */
export const highestAllowance = 1_000;

/** Reads and changes integrations for operators; every change is heard on all nodes within a second. */
export class IntegrationControlStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async list(clientId?: ClientId): Promise<IntegrationOverview[]> {
    const { rows } = await sql<
      Omit<IntegrationOverview, 'previousSecretUntil'> & { previousSecretUntil: Date | null }
    >`
      select client_id as "clientId", account_id as "accountId", name, redirect_uri as "redirectUri", grants,
        disabled_at is not null as disabled, require_pkce as "requirePkce",
        initial_requests_per_hour as allowance,
        case when previous_secret_until > now() then previous_secret_until end as "previousSecretUntil"
      from integration where ${clientId ?? null}::text is null or client_id = ${clientId ?? null}
      order by account_id, client_id`.execute(this.#database.kysely);
    return rows.map((row) => ({
      ...row,
      previousSecretUntil: row.previousSecretUntil ?? undefined,
    }));
  }

  /** Who used something of the allowance in the last hour, most first. */
  async allowanceUses(clientId: ClientId): Promise<AllowanceUse[]> {
    const { rows } = await sql<AllowanceUse>`
      select person.email, count(*)::integer as used
      from session_pair join person on person.id = person_id, unnest(initial_requests) t
      where client_id = ${clientId} and t > now() - interval '1 hour'
      group by person.email order by used desc, person.email`.execute(this.#database.kysely);
    return rows;
  }

  /** @returns false where there is no such integration */
  async change(clientId: ClientId, settings: IntegrationSettings): Promise<boolean> {
    const { disabled = null, requirePkce = null, allowance = null } = settings;
    return this.#database.kysely.transaction().execute(async (transaction) => {
      const { rows } = await sql`
        update integration set
          disabled_at = case ${disabled}::boolean
            when true then coalesce(disabled_at, now()) when false then null else disabled_at end,
          require_pkce = coalesce(${requirePkce}::boolean, require_pkce),
          initial_requests_per_hour = coalesce(${allowance}::integer, initial_requests_per_hour)
        where client_id = ${clientId} returning 1`.execute(transaction);
      await announceChange(transaction, integrationTopic, clientId);
      // Enabled again, it begins anew.
      if (disabled === true) await endTokensOfClient(transaction, clientId);
      return rows.length === 1;
    });
  }

  /**
   * Gives an integration another secret; the one before it works on for the overlap.
   * @returns false where there is no such integration
   */
  async rotateSecret(
    clientId: ClientId,
    secretHash: Buffer,
    overlapSeconds: number,
  ): Promise<boolean> {
    return this.#database.kysely.transaction().execute(async (transaction) => {
      const { rows } = await sql`
        update integration set
          previous_secret_hash = secret_hash,
          previous_secret_until = now() + ${overlapSeconds} * interval '1 s',
          secret_hash = ${secretHash}
        where client_id = ${clientId} returning 1`.execute(transaction);
      await announceChange(transaction, integrationTopic, clientId);
      return rows.length === 1;
    });
  }
}
