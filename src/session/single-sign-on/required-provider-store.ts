import { sql } from 'kysely';
import type { SignInSettings } from '../../access/authorize.ts';
import type { Database } from '../../foundation/database/open-database.ts';
import type { AccountId, PersonId } from '../../foundation/ids.ts';

/**
 * Whether a person has to sign in with a provider: all their accounts ask for it or count only its sign-ins, or the
 * installation asks it of the people of its provider. Never operators, who keep a way in when a provider is down, and never service users.
 * @param provider the installation's
 */
export async function mustUseProvider(
  kysely: Database['kysely'],
  personId: PersonId,
  provider: SignInSettings['provider'],
): Promise<boolean> {
  const issuer = provider?.onlyProvider === true ? provider.issuer : undefined;
  const { rows } = await sql<{ required: boolean }>`
    select not p.operator and (
      exists (select from provider_identity i
        where i.person_id = p.id and i.provider_account is null and i.issuer = ${issuer ?? null})
      or exists (select from membership m where m.person_id = p.id) and not exists (
        select from membership m join account a on m.account_id = a.id
        where m.person_id = p.id and (m.role = 'service' or a.sign_in <> 'single-sign-on')
          and (m.granted_by is null or m.granted_by = 'installation' and not ${provider !== undefined}::boolean))) as required
    from person p where p.id = ${personId}`.execute(kysely);
  return rows[0]?.required === true;
}

/** The link to the sign-in with an account's own provider; undefined if it has none. */
export async function findSignInLink(
  kysely: Database['kysely'],
  accountId: AccountId,
): Promise<string | undefined> {
  const { rows } = await sql<{ link: string }>`
    select link from account_sign_in_provider where account_id = ${accountId}`.execute(kysely);
  return rows[0]?.link;
}
