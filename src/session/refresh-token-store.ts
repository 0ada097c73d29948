import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import type { ClientId, PersonId } from '../foundation/ids.ts';
import { accessTokenSeconds } from './issue-tokens-store.ts';

export interface RefreshRequest {
  readonly clientId: ClientId;
  /** The refresh token that is spent. */
  readonly usedHash: Buffer;
  readonly accessHash: Buffer;
  readonly refreshHash: Buffer;
}

/** Spends refresh tokens. */
export class RefreshTokenStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Replaces the live refresh token and issues an access token, in one statement and one round trip: of two uses of one
   * token at the same instant, on any nodes, the second finds the row changed and gets nothing.
   * @returns false where the token is not the live one of a pair of this client, or its person may no longer use it
   */
  async refresh(request: RefreshRequest): Promise<boolean> {
    const { rows } = await sql`
      with moment as (select now() as at),
      pair as (
        update session_pair pair
        set spent_refresh_hash = pair.refresh_hash, refresh_hash = ${request.refreshHash}, changed_at = moment.at
        from moment, person
        where pair.refresh_hash = ${request.usedHash} and pair.client_id = ${request.clientId}
          and person.id = pair.person_id and person.disabled_at is null
          and (pair.account_id is null or exists (
            select from membership
            where membership.account_id = pair.account_id and membership.person_id = pair.person_id))
        returning pair.person_id, pair.client_id, pair.account_id, pair.code_hash, moment.at)
      insert into access_token (hash, person_id, client_id, account_id, code_hash, issued_at, expires_at)
      select ${request.accessHash}, person_id, client_id, account_id, code_hash, at, at + ${accessTokenSeconds} * interval '1 s'
      from pair
      returning 1`.execute(this.#database.kysely);
    return rows.length === 1;
  }

  /** The person whose last spent refresh token this was, where it can still be told. */
  async findPersonOfUsedToken(hash: Buffer): Promise<PersonId | undefined> {
    const { rows } = await sql<{ person_id: PersonId }>`
      select person_id from session_pair where refresh_hash = ${hash} or spent_refresh_hash = ${hash} limit 1`.execute(
      this.#database.kysely,
    );
    return rows[0]?.person_id;
  }
}
