import { type RawBuilder, sql } from 'kysely';
import type { Kysely } from '../../../base/database/open-database.ts';
import { allRows, hasRow, run } from '../../../base/database/statements.ts';
import { comparableAddress } from '../../../base/values/email-address.ts';
import { type AccountId, newId, type PersonId } from '../../../base/values/ids.ts';
import { confirmationSeconds } from '../../access/authorize.ts';
import type { PersonPrincipal } from '../../access/principal.ts';
import { onlyAccount, type Reach, type ReachedPerson, reachOf } from '../../account/reach.ts';
import { hasSecondFactor } from '../../account/second-factor-sql.ts';
import type { Locale } from '../../notices/system-mail.ts';

/** A signed-in browser. */
export interface BrowserSession extends ReachedPerson {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  /** False until the second factor is verified. */
  readonly complete: boolean;
  /** Seconds since the person signed in or confirmed who they are. */
  readonly confirmedAgo: number;
  /** True if recent enough for sensitive changes. */
  readonly recentlyConfirmed: boolean;
  readonly hasSecondFactor: boolean;
  /** The connection to the OpenID Connect provider that signed the person in; undefined for a password or passkey. */
  readonly identityId: string | undefined;
  /** True if this use needn't be recorded. */
  readonly recentlyUsed: boolean;
}

/** The caller that a session represents. */
export function principalOf(session: BrowserSession): PersonPrincipal {
  const { personId, reach, confirmedAgo, hasSecondFactor, identityId } = session;
  const byProvider = identityId !== undefined;
  return { kind: 'person', personId, reach, confirmedAgo, hasSecondFactor, byProvider };
}

/** A sign-in with a provider, as a session records it. */
export interface ProviderSignIn {
  readonly identityId: string;
  /** Reach of the provider's sessions. */
  readonly reach: Reach;
  /** Seconds since the person signed in at the provider; undefined: unknown, so it doesn't count as recent. */
  readonly authenticatedAgo: number | undefined;
  /** The provider checked several factors, or the person used their own second factor here. */
  readonly secondFactor: boolean;
}

/** The sign-in of a session whose second factor the person just verified here; undefined if no provider is involved. */
export function withOwnSecondFactor({
  identityId,
  reach,
  confirmedAgo,
}: Pick<BrowserSession, 'identityId' | 'reach' | 'confirmedAgo'>): ProviderSignIn | undefined {
  return identityId === undefined
    ? undefined
    : { identityId, reach, authenticatedAgo: confirmedAgo, secondFactor: true };
}

/** Min seconds between recorded uses of a session. */
const useSeconds = 60;
/** Max days until a session ends, even if it is used. */
const maxDays = 7;

/** A session as listed to its owner. */
export interface ListedBrowserSession {
  readonly id: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  /** At the last use. */
  readonly remoteAddress: string;
  readonly userAgent: string;
}

interface NewBrowserSession {
  readonly hash: Buffer;
  readonly personId: PersonId;
  readonly complete: boolean;
  readonly seconds: number;
  readonly remoteAddress: string;
  readonly userAgent: string;
  /** Saved for the person if they haven't chosen a language. */
  readonly locale: Locale;
  /** Undefined: signed in with a password or passkey. */
  readonly provider: ProviderSignIn | undefined;
}

/*
 * Browser sessions in the database. Nothing is cached, so ending one takes effect at once on every node.
 */

export async function createBrowserSession(
  kysely: Kysely,
  session: NewBrowserSession,
): Promise<void> {
  await run(kysely)`
    with language as (
      update person set locale = ${session.locale}
      where id = ${session.personId} and locale is null and ${session.complete}::boolean)
    insert into browser_session (hash, id, person_id, complete, created_at, authenticated_at, last_used_at, expires_at,
      remote_address, user_agent, provider_identity_id, provider_second_factor)
    select ${session.hash}, ${newId()}, ${session.personId}, ${session.complete}, at, ${authenticatedAt(session)}, at,
      at + ${session.seconds} * interval '1 s', ${session.remoteAddress}, ${session.userAgent},
      ${session.provider?.identityId ?? null}::uuid, ${session.provider?.secondFactor ?? false}
    from (select now() as at) moment`;
}

export async function findBrowserSession(
  kysely: Kysely,
  hash: Buffer,
): Promise<BrowserSession | undefined> {
  const rows = await allRows<
    Omit<BrowserSession, 'identityId' | 'reach'> & {
      identityId: string | null;
      providerAccount: AccountId | null;
    }
  >(kysely)`
    select s.id, s.person_id as "personId", p.email, p.name, s.complete, ago.seconds as "confirmedAgo",
      ago.seconds < ${confirmationSeconds} as "recentlyConfirmed",
      case when i.id is null then ${hasSecondFactor(sql`p.id`)} else s.provider_second_factor end as "hasSecondFactor",
      i.id as "identityId", i.provider_account as "providerAccount",
      s.last_used_at > now() - ${useSeconds} * interval '1 s' as "recentlyUsed"
    from browser_session s join person p on p.id = s.person_id and p.disabled_at is null
    left join provider_identity i on i.id = s.provider_identity_id
    cross join lateral (select extract(epoch from now() - s.authenticated_at)::float8 as seconds) ago
    where s.hash = ${hash} and s.expires_at > now()`;
  if (rows[0] === undefined) return undefined;
  const { identityId, providerAccount, ...session } = rows[0];
  return { ...session, identityId: identityId ?? undefined, reach: reachOf(providerAccount) };
}

/** Records that a session is used now, which extends it. */
export async function recordSessionUse(
  kysely: Kysely,
  hash: Buffer,
  remoteAddress: string,
  idleSeconds: number,
): Promise<void> {
  // No need to wait for another request that records the same.
  await run(kysely)`
    update browser_session set last_used_at = now(), last_address = ${remoteAddress},
      expires_at = least(created_at + ${maxDays} * interval '1 day', now() + ${idleSeconds} * interval '1 s')
    where hash = (select hash from browser_session where hash = ${hash}
      and last_used_at <= now() - ${useSeconds} * interval '1 s' for update skip locked)`;
}

/** Moves a session to a new hash, and records if the person confirmed who they are. */
export async function renewBrowserSession(
  kysely: Kysely,
  hash: Buffer,
  newHash: Buffer,
  isConfirmed: boolean,
): Promise<void> {
  await run(kysely)`
    update browser_session set hash = ${newHash},
      authenticated_at = case when ${isConfirmed}::boolean then now() else authenticated_at end
    where hash = ${hash}`;
}

export async function endBrowserSession(kysely: Kysely, hash: Buffer): Promise<void> {
  await run(kysely)`delete from browser_session where hash = ${hash}`;
}

/** A person's complete, unexpired sessions within reach, most recently used first. */
export function listBrowserSessions(
  kysely: Kysely,
  person: ReachedPerson,
): Promise<ListedBrowserSession[]> {
  return allRows<ListedBrowserSession>(kysely)`
    select id, created_at as "createdAt", last_used_at as "lastUsedAt",
      coalesce(last_address, remote_address) as "remoteAddress", user_agent as "userAgent"
    from browser_session where ${isReached(person)} and complete and expires_at > now()
    order by last_used_at desc, id`;
}

/** Ends one of a person's sessions within reach, by its ID. */
export function endSessionById(
  kysely: Kysely,
  person: ReachedPerson,
  id: string,
): Promise<boolean> {
  return hasRow(kysely)`
    delete from browser_session where ${isReached(person)} and id::text = ${id} returning 1`;
}

/** Signs a person out everywhere else within this session's reach. */
export async function endOtherSessions(
  kysely: Kysely,
  session: Pick<BrowserSession, 'personId' | 'reach' | 'id'>,
): Promise<void> {
  await run(kysely)`
    delete from browser_session where ${isReached(session)} and id::text <> ${session.id}`;
}

/** A session of an account's provider belongs to that account; all others belong to the person alone. */
function isReached({ personId, reach }: ReachedPerson): RawBuilder<boolean> {
  const account = onlyAccount(reach);
  return account === null
    ? sql`person_id = ${personId}`
    : sql`person_id = ${personId} and provider_identity_id in (
        select id from provider_identity where person_id = ${personId} and provider_account = ${account})`;
}

/** When the person authenticated; with a provider, recently only if it says so. */
function authenticatedAt({ provider }: NewBrowserSession): RawBuilder<Date> {
  const ago = provider === undefined ? 0 : (provider.authenticatedAgo ?? confirmationSeconds);
  return sql`at - ${Math.max(0, ago)} * interval '1 s'`;
}

/** How a person authenticated: on their own (password, passkey, mailed link), or with the named provider. */
export type BrowserProof = 'own' | 'installation' | `account ${string}`;

/** Max known browsers per person and proof; one more replaces the least recently used. */
const maxBrowsers = 10;
const knownDays = 180;

export function isKnownBrowser(
  kysely: Kysely,
  email: string,
  proof: BrowserProof,
  hash: Buffer,
): Promise<boolean> {
  return hasRow(kysely)`
    select from known_browser b join person p on p.id = b.person_id
    where p.email = ${comparableAddress(email)} and b.proven_by = ${proof} and b.hash = ${hash}
      and b.last_used_at > now() - ${knownDays} * interval '1 day'`;
}

export async function saveKnownBrowser(
  kysely: Kysely,
  personId: PersonId,
  proof: BrowserProof,
  hash: Buffer,
): Promise<void> {
  await run(kysely)`
    insert into known_browser (person_id, proven_by, hash) values (${personId}, ${proof}, ${hash})
    on conflict (person_id, proven_by, hash) do update set last_used_at = now()`;
  await run(kysely)`
    delete from known_browser where person_id = ${personId} and proven_by = ${proof} and hash not in (
      select hash from known_browser where person_id = ${personId} and proven_by = ${proof}
      order by last_used_at desc, hash limit ${maxBrowsers})`;
}
