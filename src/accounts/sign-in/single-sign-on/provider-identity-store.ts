import { type RawBuilder, sql } from 'kysely';
import type { Kysely } from '../../../base/database/open-database.ts';
import { allRows, firstRow, firstValue, run } from '../../../base/database/statements.ts';
import { type AccountId, newId, type PersonId } from '../../../base/values/ids.ts';
import { onlyAccount, type ReachedPerson } from '../../account/reach.ts';
import type { ProviderClaims } from './read-provider-claims.ts';

/** The person whom a provider's subject identifies. */
export interface ProviderIdentity {
  readonly id: string;
  readonly personId: PersonId;
  readonly email: string;
  readonly disabled: boolean;
  readonly operator: boolean;
  /** The person connected it while signed in another way. */
  readonly linked: boolean;
}

type ProviderSubject = Pick<ProviderClaims, 'issuer' | 'subject'>;

/** The identity of a subject at a provider, locked until the end of the transaction with its person. */
export function findProviderIdentity(
  transaction: Kysely,
  providerAccount: AccountId | undefined,
  { issuer, subject }: ProviderSubject,
): Promise<ProviderIdentity | undefined> {
  return firstRow<ProviderIdentity>(transaction)`
    select i.id, i.person_id as "personId", p.email, p.disabled_at is not null as disabled, p.operator, i.linked
    from provider_identity i join person p on p.id = i.person_id
    where i.provider_account is not distinct from ${providerAccount ?? null} and i.issuer = ${issuer}
      and i.subject = ${subject} for update`;
}

/**
 * Saves the identity of a person. People whom the provider brought in can connect it too.
 * @returns its ID; undefined if the subject already belongs to another person, or nobody connects it
 */
export function createProviderIdentity(
  transaction: Kysely,
  identity: ProviderSubject & {
    readonly providerAccount: AccountId | undefined;
    readonly personId: PersonId;
    readonly linked: boolean;
  },
): Promise<string | undefined> {
  const { providerAccount, issuer, subject, personId, linked } = identity;
  return firstValue<string>(transaction)`
    insert into provider_identity (id, provider_account, issuer, subject, person_id, linked, created_at)
    values (${newId()}, ${providerAccount ?? null}, ${issuer}, ${subject}, ${personId}, ${linked}, now())
    on conflict (provider_account, issuer, subject) do update set linked = true
    where excluded.linked and provider_identity.person_id = excluded.person_id
    returning id`;
}

/** Records a sign-in, and whether the provider checked several factors. */
export async function recordProviderIdentityUse(
  transaction: Kysely,
  id: string,
  { secondFactor }: Pick<ProviderClaims, 'secondFactor'>,
): Promise<void> {
  await run(transaction)`
    update provider_identity set last_used_at = now(), second_factor = ${secondFactor}
    where id = ${id}`;
}

/** A sign-in with a provider, as listed to its owner. */
export interface ListedProviderIdentity {
  readonly id: string;
  readonly providerAccount: AccountId | null;
  readonly issuer: string;
  readonly linked: boolean;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** The providers that a person can sign in with, as far as is reached, the oldest first. */
export function listProviderIdentities(
  kysely: Kysely,
  person: ReachedPerson,
): Promise<ListedProviderIdentity[]> {
  return allRows<ListedProviderIdentity>(kysely)`
    select id, provider_account as "providerAccount", issuer, linked, created_at as "createdAt", last_used_at as "lastUsedAt"
    from provider_identity where ${isReached(person)} order by created_at, id`;
}

/** Disconnects a provider from a person, which ends the sessions that it began. */
export function removeProviderIdentity(
  kysely: Kysely,
  person: ReachedPerson,
  id: string,
): Promise<string | undefined> {
  return firstValue<string>(kysely)`
    delete from provider_identity where ${isReached(person)} and id::text = ${id}
    returning issuer`;
}

function isReached({ personId, reach }: ReachedPerson): RawBuilder<boolean> {
  const account = onlyAccount(reach);
  return account === null
    ? sql`person_id = ${personId}`
    : sql`person_id = ${personId} and provider_account = ${account}`;
}
