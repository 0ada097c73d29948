import type { Database } from '../../base/database/open-database.ts';
import type { AccountId, ClientId, PersonId } from '../../base/values/ids.ts';
import { reachOf } from '../account/reach.ts';
import type { StoredCredential } from './credential-cache.ts';
import type { TokenPrincipal } from './principal.ts';

interface Row {
  person_id: PersonId;
  client_id: ClientId;
  account_id: AccountId | null;
  milliseconds_left: number;
}

/**
 * Finds the token with this hash if it has not expired, its person and integration are enabled and, for a token
 * bound to an account, the person still belongs to that account.
 */
export async function findAccessToken(
  { pool }: Database,
  hash: Buffer,
): Promise<StoredCredential<TokenPrincipal> | undefined> {
  // Named, because planning the joins takes longer than running them.
  const { rows } = await pool.query<Row>({
    name: 'access-token-find',
    text: `
      select t.person_id, t.client_id, t.account_id,
        extract(epoch from t.expires_at - now())::float8 * 1000 as milliseconds_left
      from access_token t
      join person p on p.id = t.person_id and p.disabled_at is null
      join integration i on i.client_id = t.client_id and i.disabled_at is null
      where t.hash = $1
        and t.expires_at > now()
        and (t.account_id is null or exists (
          select from membership m where m.account_id = t.account_id and m.person_id = t.person_id))`,
    values: [hash],
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  const holder = Object.freeze({
    kind: 'token' as const,
    personId: row.person_id,
    clientId: row.client_id,
    reach: reachOf(row.account_id),
  });
  return { holder, remainingMs: row.milliseconds_left };
}
