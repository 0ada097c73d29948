import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, ClientId, PersonId } from '../foundation/ids.ts';

/** What a client can learn about its own live token. */
export interface OwnToken {
  readonly personId: PersonId;
  readonly email: string;
  readonly accountId: AccountId | undefined;
  /** Seconds since the epoch; undefined for refresh tokens, which have no fixed lifetime. */
  readonly issuedAt: number | undefined;
  readonly expiresAt: number | undefined;
}

interface Row {
  person_id: PersonId;
  email: string;
  account_id: AccountId | null;
  issued_at: number | null;
  expires_at: number | null;
}

function toOwnToken(row: Row | undefined): OwnToken | undefined {
  return (
    row && {
      personId: row.person_id,
      email: row.email,
      accountId: row.account_id ?? undefined,
      issuedAt: row.issued_at ?? undefined,
      expiresAt: row.expires_at ?? undefined,
    }
  );
}

/** This client's live access token with this hash, or undefined. */
export async function findOwnAccessToken(
  database: Database,
  hash: Buffer,
  clientId: ClientId,
): Promise<OwnToken | undefined> {
  const { rows } = await sql<Row>`
    select t.person_id, p.email, t.account_id,
      floor(extract(epoch from t.issued_at))::float8 as issued_at,
      floor(extract(epoch from t.expires_at))::float8 as expires_at
    from access_token t join person p on p.id = t.person_id and p.disabled_at is null
    where t.hash = ${hash} and t.client_id = ${clientId}
      and t.expires_at > now()
      and (t.account_id is null or exists (
        select from membership m where m.account_id = t.account_id and m.person_id = t.person_id))`.execute(
    database.kysely,
  );
  return toOwnToken(rows[0]);
}

/** This client's live refresh token with this hash, or undefined. */
export async function findOwnRefreshToken(
  database: Database,
  hash: Buffer,
  clientId: ClientId,
): Promise<OwnToken | undefined> {
  const { rows } = await sql<Row>`
    select s.person_id, p.email, s.account_id, null::float8 as issued_at, null::float8 as expires_at
    from session_pair s join person p on p.id = s.person_id and p.disabled_at is null
    where s.refresh_hash = ${hash} and s.client_id = ${clientId}
      and (s.account_id is null or exists (
        select from membership m where m.account_id = s.account_id and m.person_id = s.person_id))`.execute(
    database.kysely,
  );
  return toOwnToken(rows[0]);
}
