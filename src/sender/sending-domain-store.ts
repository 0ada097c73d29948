import { type Selectable, sql } from 'kysely';
import { announceChange } from '../foundation/database/announce.ts';
import type { Database, Tables } from '../foundation/database/open-database.ts';
import type { AccountId } from '../foundation/ids.ts';
import { unverifySendersOfDomain } from './sender-verification-store.ts';
import type {
  DnsProvider,
  DomainEvaluation,
  DomainFinding,
  DomainState,
  FindingState,
  FoundZone,
  RecordKind,
  SendingDomain,
  WarmUpSchedule,
} from './sending-domain.ts';

type Kysely = Database['kysely'];

/** Cache topic of sending domains; the key is `domainKey`. */
export const domainTopic = 'sending-domain';

/** The cache key of a domain; account IDs contain no `/`. */
export function domainKey(accountId: AccountId, domain: string): string {
  return `${accountId}/${domain}`;
}

/** The domain of an account, or undefined. */
export async function readSendingDomain(
  kysely: Kysely,
  accountId: AccountId,
  domain: string,
): Promise<SendingDomain | undefined> {
  const row = await kysely
    .selectFrom('sending_domain')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('domain', '=', domain)
    .executeTakeFirst();
  return row && toDomain(row);
}

/** All domains of an account, ordered by name. */
export async function readSendingDomains(
  kysely: Kysely,
  accountId: AccountId,
): Promise<SendingDomain[]> {
  const rows = await kysely
    .selectFrom('sending_domain')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('domain')
    .execute();
  return rows.map(toDomain);
}

/** Adds a domain. @returns false if the account already has it */
export async function addSendingDomain(
  transaction: Kysely,
  accountId: AccountId,
  domain: string,
  returnPath: string,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto('sending_domain')
    .values({ account_id: accountId, domain, return_path: returnPath })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  await announceChange(transaction, domainTopic, domainKey(accountId, domain));
  return numInsertedOrUpdatedRows === 1n;
}

/**
 * Removes a domain with its keys and findings, unverifies the senders it verified, and notifies all nodes at commit.
 * @returns false if it doesn't exist
 */
export async function removeSendingDomain(
  transaction: Kysely,
  accountId: AccountId,
  domain: string,
): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom('sending_domain')
    .where('account_id', '=', accountId)
    .where('domain', '=', domain)
    .executeTakeFirstOrThrow();
  await announceChange(transaction, domainTopic, domainKey(accountId, domain));
  if (numDeletedRows === 0n) return false;
  await unverifySendersOfDomain(transaction, accountId, domain);
  return true;
}

/** Sets or clears the warm-up plan of a domain. */
export async function setWarmUp(
  transaction: Kysely,
  accountId: AccountId,
  domain: string,
  warmUp: WarmUpSchedule | undefined,
): Promise<void> {
  await transaction
    .updateTable('sending_domain')
    .set({
      warm_up_from: warmUp === undefined ? null : sql`${warmUp.from}::date`,
      warm_up_plan: warmUp === undefined ? null : [...warmUp.plan],
    })
    .where('account_id', '=', accountId)
    .where('domain', '=', domain)
    .execute();
  await announceChange(transaction, domainTopic, domainKey(accountId, domain));
}

/** Sets the source pool of a domain. */
export async function setSourcePool(
  transaction: Kysely,
  accountId: AccountId,
  domain: string,
  sourcePool: string,
): Promise<void> {
  await transaction
    .updateTable('sending_domain')
    .set({ source_pool: sourcePool })
    .where('account_id', '=', accountId)
    .where('domain', '=', domain)
    .execute();
  await announceChange(transaction, domainTopic, domainKey(accountId, domain));
}

/** Sets or clears the tracking host of a domain. It is used once its record is found. */
export async function setTrackingHost(
  transaction: Kysely,
  accountId: AccountId,
  domain: string,
  host: string | undefined,
): Promise<void> {
  await transaction
    .updateTable('sending_domain')
    .set({ tracking_host: host ?? null, next_check_at: sql<Date>`now()` })
    .where('account_id', '=', accountId)
    .where('domain', '=', domain)
    .execute();
  await transaction
    .deleteFrom('domain_finding')
    .where('account_id', '=', accountId)
    .where('domain', '=', domain)
    .where('kind', '=', 'tracking')
    .execute();
  await announceChange(transaction, domainTopic, domainKey(accountId, domain));
}

/** True if the last check found the record of the tracking host. */
export async function isTrackingHostReady(
  kysely: Kysely,
  accountId: AccountId,
  domain: string,
): Promise<boolean> {
  const row = await kysely
    .selectFrom('domain_finding')
    .select('state')
    .where('account_id', '=', accountId)
    .where('domain', '=', domain)
    .where('kind', '=', 'tracking')
    .executeTakeFirst();
  return row?.state === 'ok';
}

/**
 * Claims domains whose check is due for this node: of some accounts, whichever they are, the one that is due longest. The next check
 * is scheduled first, so a node that dies during a check only delays it.
 */
export async function claimDueDomains(kysely: Kysely, limit: number): Promise<SendingDomain[]> {
  const { rows } = await sql<Selectable<Tables['sending_domain']>>`
    update sending_domain d set next_check_at = now() + interval '10 minutes'
    from (
      select s.account_id, s.domain from sending_domain s join (
        select distinct on (account_id) account_id, domain from sending_domain
        where next_check_at <= now() order by account_id, next_check_at) first
        on first.account_id = s.account_id and first.domain = s.domain
      where s.next_check_at <= now()
      order by random() limit ${limit} for update of s skip locked) due
    where d.account_id = due.account_id and d.domain = due.domain
    returning d.*`.execute(kysely);
  return rows.map(toDomain);
}

/** Checks a domain later than planned. */
export async function postponeCheck(
  kysely: Kysely,
  accountId: AccountId,
  domain: string,
  seconds: number,
): Promise<void> {
  await sql`
    update sending_domain set next_check_at = now() + ${seconds} * interval '1 second'
    where account_id = ${accountId} and domain = ${domain}`.execute(kysely);
}

/** Locks a domain against removal until the transaction ends. @returns false if it is already gone */
export async function lockSendingDomain(
  transaction: Kysely,
  accountId: AccountId,
  domain: string,
): Promise<boolean> {
  const locked = await transaction
    .selectFrom('sending_domain')
    .select('domain')
    .where('account_id', '=', accountId)
    .where('domain', '=', domain)
    .forKeyShare()
    .executeTakeFirst();
  return locked !== undefined;
}

/** Stores the result of a check: state, next check, findings, and the zone unless its lookup failed. */
export async function saveCheckResult(
  transaction: Kysely,
  { accountId, domain }: SendingDomain,
  evaluation: DomainEvaluation,
  findings: readonly DomainFinding[],
  zone?: FoundZone | undefined,
): Promise<void> {
  await transaction
    .updateTable('sending_domain')
    .set((eb) => ({
      ...(zone && { zone: zone.name ?? null, dns_provider: zone.provider ?? null }),
      state: evaluation.state,
      state_at: eb
        .case()
        .when('state', '=', evaluation.state)
        .then(eb.ref('state_at'))
        .else(sql<Date>`now()`)
        .end(),
      bad_checks: evaluation.badChecks,
      checked_at: sql<Date>`now()`,
      next_check_at: sql<Date>`now() + ${evaluation.nextCheckSeconds}::float8 * interval '1 s'`,
    }))
    .where('account_id', '=', accountId)
    .where('domain', '=', domain)
    .execute();
  await transaction
    .deleteFrom('domain_finding')
    .where('account_id', '=', accountId)
    .where('domain', '=', domain)
    .execute();
  if (findings.length === 0) return;
  await transaction
    .insertInto('domain_finding')
    .values(
      findings.map(({ record, state, found, explanation, resolver }) => ({
        account_id: accountId,
        domain,
        kind: record.kind,
        name: record.name,
        type: record.type,
        expected: record.value,
        required: record.required,
        state,
        found: [...found],
        explanation,
        resolver,
      })),
    )
    .execute();
}

/** A finding with the time of its check. */
export type StoredDomainFinding = Omit<DomainFinding, 'record'> & {
  readonly kind: RecordKind;
  readonly name: string;
  readonly expected: string;
  readonly required: boolean;
  readonly checkedAt: Date;
};

/** The findings of a domain's last check. */
export async function readFindings(
  kysely: Kysely,
  accountId: AccountId,
  domain: string,
): Promise<StoredDomainFinding[]> {
  const rows = await kysely
    .selectFrom('domain_finding')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('domain', '=', domain)
    .orderBy('name')
    .execute();
  return rows.map((row) => ({
    kind: row.kind as RecordKind,
    name: row.name,
    expected: row.expected,
    required: row.required,
    state: row.state as FindingState,
    found: row.found,
    explanation: row.explanation,
    resolver: row.resolver,
    checkedAt: row.checked_at,
  }));
}

function toDomain(row: Selectable<Tables['sending_domain']>): SendingDomain {
  return {
    accountId: row.account_id as AccountId,
    domain: row.domain,
    state: row.state as DomainState,
    stateAt: row.state_at,
    badChecks: row.bad_checks,
    returnPath: row.return_path,
    trackingHost: row.tracking_host ?? undefined,
    sourcePool: row.source_pool,
    warmUp:
      row.warm_up_from === null || row.warm_up_plan === null
        ? undefined
        : { from: dayOf(row.warm_up_from), plan: row.warm_up_plan },
    checkedAt: row.checked_at ?? undefined,
    zone: row.zone ?? undefined,
    dnsProvider: (row.dns_provider as DnsProvider | null) ?? undefined,
  };
}

/** The driver parses a date as midnight in the process's time zone. */
function dayOf(date: Date): string {
  const twoDigits = (value: number): string => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
}

/** An account that has verified this domain, or undefined. */
export async function findAccountWithVerifiedDomain(
  kysely: Kysely,
  domain: string,
): Promise<AccountId | undefined> {
  const { rows } = await sql<{ id: AccountId }>`
    select a.id from account a cross join lateral (
      select from sending_domain
      where account_id = a.id and domain = ${domain} and state = 'verified') as d
    order by a.id limit 1`.execute(kysely);
  return rows[0]?.id;
}

/** Up to this many domains are counted. */
const maxCounted = 10_000;

/** The number of sending domains of all accounts by state. */
export async function countSendingDomains(
  kysely: Kysely,
): Promise<ReadonlyMap<DomainState, number>> {
  const { rows } = await sql<{ state: DomainState; count: number }>`
    select state, count(*)::int as count from (
      select d.state from account a
      cross join lateral (select state from sending_domain where account_id = a.id) d
      limit ${maxCounted}) counted
    group by state`.execute(kysely);
  return new Map(rows.map(({ state, count }) => [state, count]));
}

/** Whether an account has shown by DNS that a domain is its own. */
export async function hasVerifiedDomain(
  kysely: Database['kysely'],
  accountId: AccountId,
  domain: string,
): Promise<boolean> {
  const row = await kysely
    .selectFrom('sending_domain')
    .select('domain')
    .where('account_id', '=', accountId)
    .where('domain', '=', domain)
    .where('state', '=', 'verified')
    .executeTakeFirst();
  return row !== undefined;
}
