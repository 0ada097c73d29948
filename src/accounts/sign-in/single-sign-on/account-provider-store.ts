import { type RawBuilder, sql } from 'kysely';
import type { Kysely } from '../../../base/database/open-database.ts';
import { allRows, firstValue, run } from '../../../base/database/statements.ts';
import type { MasterKey } from '../../../base/secrets/master-key.ts';
import type { PurposeKeys } from '../../../base/secrets/purpose-keys.ts';
import { seal, sealedColumn, unsealAny } from '../../../base/secrets/seal.ts';
import type { AccountId, PersonId } from '../../../base/values/ids.ts';
import type { SignInSettings } from '../../access/authorize.ts';
import { keepMembershipsOfProvider } from '../../account/membership-store.ts';
import { revokeReachedTokens } from '../../oauth/revoke-tokens-store.ts';
import type { ProviderMemberRule, ProviderRole, SignInProvider } from './sign-in-provider.ts';

const secretPurpose = 'sign-in provider secret';

/** Re-encrypted when the master key is rotated. */
export const sealedProviderSecrets = sealedColumn({
  purpose: secretPurpose,
  table: 'account_sign_in_provider',
  rowKey: ['account_id'],
  column: 'client_secret',
});

/** An account's provider as its owners see it: without the secret. */
type AccountProviderSettings = Omit<
  SignInProvider,
  'accountId' | 'clientSecret' | 'link' | 'onlyProvider'
>;

type StoredRule =
  | { readonly role: ProviderRole; readonly group: string }
  | { readonly role: ProviderRole; readonly domain: string };

interface Row extends Pick<SignInProvider, 'link' | 'name' | 'issuer' | 'clientId' | 'trustEmail'> {
  readonly accountId: AccountId;
  readonly sealed: Buffer;
  readonly rules: readonly StoredRule[];
}

/** The sign-in providers of accounts. Nothing is cached: they are read once for each sign-in. */
export class AccountProviderStore {
  readonly #keys: PurposeKeys;

  constructor(key: MasterKey) {
    this.#keys = key.keysFor(secretPurpose);
  }

  /** The provider of each of these accounts that has one. */
  list(kysely: Kysely, accountIds: readonly AccountId[]): Promise<SignInProvider[]> {
    return this.#select(kysely, sql`account_id = any (${accountIds}::text[])`);
  }

  async #select(kysely: Kysely, condition: RawBuilder<unknown>): Promise<SignInProvider[]> {
    const rows = await allRows<Row>(kysely)`
      select account_id as "accountId", link, name, issuer, client_id as "clientId", client_secret as sealed,
        trust_email as "trustEmail", members as rules
      from account_sign_in_provider where ${condition} order by account_id`;
    return rows.map(({ sealed, rules, ...provider }) => ({
      ...provider,
      clientSecret: unsealAny(this.#keys, provider.accountId, sealed).toString(),
      // Whatever is stored, it concerns this account only.
      members: rules.map(({ role, ...who }) => ({ accountId: provider.accountId, role, who })),
    }));
  }

  async find(kysely: Kysely, accountId: AccountId): Promise<SignInProvider | undefined> {
    const [provider] = await this.list(kysely, [accountId]);
    return provider;
  }

  /** The provider of a sign-in link. */
  async findByLink(kysely: Kysely, link: string): Promise<SignInProvider | undefined> {
    const [provider] = await this.#select(kysely, sql`link::text = ${link}`);
    return provider;
  }

  /**
   * Creates or replaces an account's provider. Identities of another issuer are removed, which ends their sessions; the
   * memberships that they got stay until people end them.
   * @param clientSecret undefined keeps the stored one of the same issuer and client; another issuer never gets it
   * @returns false if there is no secret to keep
   */
  async save(
    transaction: Kysely,
    accountId: AccountId,
    provider: AccountProviderSettings,
    clientSecret: string | undefined,
  ): Promise<boolean> {
    const sealed =
      clientSecret === undefined
        ? null
        : seal(this.#keys.current, accountId, Buffer.from(clientSecret));
    const members = JSON.stringify(provider.members.map(({ role, who }) => ({ role, ...who })));
    const rows = await allRows(transaction)`
      with before as (
        select client_secret from account_sign_in_provider
        where account_id = ${accountId} and issuer = ${provider.issuer} and client_id = ${provider.clientId})
      insert into account_sign_in_provider (account_id, name, issuer, client_id, client_secret, trust_email, members)
      select ${accountId}, ${provider.name}, ${provider.issuer}, ${provider.clientId}, secret, ${provider.trustEmail},
        ${members}::jsonb
      from (select coalesce(${sealed}::bytea, (select client_secret from before)) as secret) known
      where secret is not null
      on conflict (account_id) do update set name = excluded.name, issuer = excluded.issuer,
        client_id = excluded.client_id, client_secret = excluded.client_secret, trust_email = excluded.trust_email,
        members = excluded.members
      returning 1`;
    const ended = await allRows(transaction)`
      delete from provider_identity
      where provider_account = ${accountId} and issuer <> ${provider.issuer} returning 1`;
    if (ended.length > 0) await leaveProvider(transaction, accountId);
    return rows.length === 1;
  }

  /** Removes an account's provider and its identities, which ends their sessions; memberships stay. */
  async remove(transaction: Kysely, accountId: AccountId): Promise<void> {
    await run(transaction)`
      delete from account_sign_in_provider where account_id = ${accountId}`;
    await run(transaction)`
      delete from provider_identity where provider_account = ${accountId}`;
    await leaveProvider(transaction, accountId);
  }
}

/** Memberships stay, but the tokens of those whom the provider brought in came from its sign-ins, so they end with these. */
async function leaveProvider(transaction: Kysely, accountId: AccountId): Promise<void> {
  for (const personId of await keepMembershipsOfProvider(transaction, accountId))
    await revokeReachedTokens(transaction, { personId, reach: { accountId } });
}

/** Rules of an account's provider, as the account's owners write them. */
export function toMemberRules(
  accountId: AccountId,
  rules: readonly {
    readonly role: ProviderRole;
    readonly group?: string | null | undefined;
    readonly domain?: string | null | undefined;
  }[],
): ProviderMemberRule[] {
  return rules.map(({ role, group, domain }) => ({
    accountId,
    role,
    who: group == null ? { domain: domain ?? '' } : { group },
  }));
}

/**
 * Whether a person has to sign in with a provider: all their accounts ask for it or count only its sign-ins, or the
 * installation asks it of the people of its provider. Never operators, who keep a way in when a provider is down, and never service users.
 * @param provider the installation's
 */
export async function mustUseProvider(
  kysely: Kysely,
  personId: PersonId,
  provider: SignInSettings['provider'],
): Promise<boolean> {
  const issuer = provider?.onlyProvider === true ? provider.issuer : undefined;
  const rows = await allRows<{ required: boolean }>(kysely)`
    select not p.operator and (
      exists (select from provider_identity i
        where i.person_id = p.id and i.provider_account is null and i.issuer = ${issuer ?? null})
      or exists (select from membership m where m.person_id = p.id) and not exists (
        select from membership m join account a on m.account_id = a.id
        where m.person_id = p.id and (m.role = 'service' or a.sign_in <> 'single-sign-on')
          and (m.granted_by is null or m.granted_by = 'installation' and not ${provider !== undefined}::boolean))) as required
    from person p where p.id = ${personId}`;
  return rows[0]?.required === true;
}

/** The link to the sign-in with an account's own provider; undefined if it has none. */
export function findSignInLink(kysely: Kysely, accountId: AccountId): Promise<string | undefined> {
  return firstValue<string>(kysely)`
    select link from account_sign_in_provider where account_id = ${accountId}`;
}
