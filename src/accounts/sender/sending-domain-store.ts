import type { Selectable } from 'kysely';
import { announceChange } from '../../base/database/announce.ts';
import type { Kysely, Tables } from '../../base/database/open-database.ts';
import { allRows, firstValue, hasRow, run } from '../../base/database/statements.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { unverifySendersOfDomain } from './sender-verification-store.ts';
import type {
  DnsProvider,
  DomainEvaluation,
  DomainFinding,
  DomainState,
  FoundZone,
  RecordKind,
  SendingDomain,
  WarmUpSchedule,
} from './sending-domain.ts';

/** Cache topic of sending domains; the key is `domainKey`. */
export const domainTopic = 'sending-domain';

/** The cache key of a domain; account IDs contain no `/`. */
export function domainKey(accountId: AccountId, domain: string): string {
  return `${accountId}/${domain}`;
}

/** Notifies all nodes of a changed domain at commit. */
export function announceDomain(
  transaction: Kysely,
  accountId: AccountId,
  domain: string,
): Promise<void> {
  return announceChange(transaction, domainTopic, domainKey(accountId, domain));
}

/** The domain of an account, or undefined. */
export async function readSendingDomain(
  kysely: Kysely,
  accountId: AccountId,
  domain: string,
): Promise<SendingDomain | undefined> {
  const rows = await allRows<DomainRow>(kysely)`
    select * from sending_domain where account_id = ${accountId} and domain = ${domain}`;
  return rows[0] && toDomain(rows[0]);
}

/** All domains of an account, ordered by name. */
export async function readSendingDomains(
  kysely: Kysely,
  accountId: AccountId,
): Promise<SendingDomain[]> {
  const rows = await allRows<DomainRow>(kysely)`
    select * from sending_domain where account_id = ${accountId} order by domain`;
  return rows.map(toDomain);
}

/** Adds a domain. @returns false if the account already has it */
export async function addSendingDomain(
  transaction: Kysely,
  accountId: AccountId,
  domain: string,
  returnPath: string,
): Promise<boolean> {
  const rows = await allRows(transaction)`
    insert into sending_domain (account_id, domain, return_path) values (${accountId}, ${domain}, ${returnPath})
    on conflict do nothing returning 1`;
  await announceDomain(transaction, accountId, domain);
  return rows.length === 1;
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
  const rows = await allRows(transaction)`
    delete from sending_domain where account_id = ${accountId} and domain = ${domain} returning 1`;
  await announceDomain(transaction, accountId, domain);
  if (rows.length === 0) return false;
  await unverifySendersOfDomain(transaction, accountId, domain);
  return true;
}

/** The editable settings of a domain, as opposed to its DNS records and their state. */
export interface DomainSettings {
  /** Null: tracked links use the service host. It is used once its record is found. */
  readonly trackingHost: string | null;
  readonly sourcePool: string;
  readonly warmUp: WarmUpSchedule | null;
}

/** Changes the given settings of a domain. */
export async function changeSendingDomain(
  transaction: Kysely,
  accountId: AccountId,
  domain: string,
  change: { readonly [Name in keyof DomainSettings]?: DomainSettings[Name] | undefined },
): Promise<void> {
  const { sourcePool = null, warmUp, trackingHost } = change;
  await run(transaction)`
    update sending_domain set source_pool = coalesce(${sourcePool}, source_pool),
      warm_up_from = case when ${warmUp === undefined} then warm_up_from else ${warmUp?.from ?? null}::date end,
      warm_up_plan = case when ${warmUp === undefined} then warm_up_plan else ${warmUp?.plan ?? null}::integer[] end,
      tracking_host = case when ${trackingHost === undefined} then tracking_host else ${trackingHost ?? null}::text end,
      next_check_at = case when ${trackingHost === undefined} then next_check_at else now() end
    where account_id = ${accountId} and domain = ${domain}`;
  if (trackingHost !== undefined)
    await run(transaction)`
      delete from domain_finding
      where account_id = ${accountId} and domain = ${domain} and kind = 'tracking'`;
  await announceDomain(transaction, accountId, domain);
}

/** True if the last check found the record of the tracking host. */
export function isTrackingHostReady(
  kysely: Kysely,
  accountId: AccountId,
  domain: string,
): Promise<boolean> {
  return hasRow(kysely)`
    select from domain_finding
    where account_id = ${accountId} and domain = ${domain} and kind = 'tracking' and state = 'ok'`;
}

/**
 * Claims domains whose check is due for this node: of some accounts, whichever they are, the one that is due longest. The next check
 * is scheduled first, so a node that dies during a check only delays it.
 */
export async function claimDueDomains(kysely: Kysely, limit: number): Promise<SendingDomain[]> {
  const rows = await allRows<DomainRow>(kysely)`
    update sending_domain d set next_check_at = now() + interval '10 minutes'
    from (
      select s.account_id, s.domain from sending_domain s join (
        select distinct on (account_id) account_id, domain from sending_domain
        where next_check_at <= now() order by account_id, next_check_at) first
        on first.account_id = s.account_id and first.domain = s.domain
      where s.next_check_at <= now()
      order by random() limit ${limit} for update of s skip locked) due
    where d.account_id = due.account_id and d.domain = due.domain
    returning d.*`;
  return rows.map(toDomain);
}

/** Checks a domain later than planned. */
export async function postponeCheck(
  kysely: Kysely,
  accountId: AccountId,
  domain: string,
  seconds: number,
): Promise<void> {
  await run(kysely)`
    update sending_domain set next_check_at = now() + ${seconds} * interval '1 second'
    where account_id = ${accountId} and domain = ${domain}`;
}

/** Locks a domain against removal until the transaction ends. @returns false if it is already gone */
export function lockSendingDomain(
  transaction: Kysely,
  accountId: AccountId,
  domain: string,
): Promise<boolean> {
  return hasRow(transaction)`
    select from sending_domain where account_id = ${accountId} and domain = ${domain} for key share`;
}

/** Stores the result of a check: state, next check, findings, and the zone unless its lookup failed. */
export async function saveCheckResult(
  transaction: Kysely,
  { accountId, domain }: SendingDomain,
  evaluation: DomainEvaluation,
  findings: readonly DomainFinding[],
  zone?: FoundZone | undefined,
): Promise<void> {
  const { state, badChecks, nextCheckSeconds } = evaluation;
  await run(transaction)`
    update sending_domain set state = ${state},
      state_at = case when state = ${state} then state_at else now() end,
      zone = case when ${zone === undefined} then zone else ${zone?.name ?? null} end,
      dns_provider = case when ${zone === undefined} then dns_provider else ${zone?.provider ?? null} end,
      bad_checks = ${badChecks}, checked_at = now(), next_check_at = now() + ${nextCheckSeconds}::float8 * interval '1 s'
    where account_id = ${accountId} and domain = ${domain}`;
  await run(transaction)`
    delete from domain_finding where account_id = ${accountId} and domain = ${domain}`;
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
export function readFindings(
  kysely: Kysely,
  accountId: AccountId,
  domain: string,
): Promise<StoredDomainFinding[]> {
  return allRows<StoredDomainFinding>(kysely)`
    select kind, name, expected, required, state, found, explanation, resolver, checked_at as "checkedAt"
    from domain_finding where account_id = ${accountId} and domain = ${domain} order by name`;
}

type DomainRow = Selectable<Tables['sending_domain']>;

function toDomain(row: DomainRow): SendingDomain {
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
export function findAccountWithVerifiedDomain(
  kysely: Kysely,
  domain: string,
): Promise<AccountId | undefined> {
  return firstValue<AccountId>(kysely)`
    select a.id from account a cross join lateral (
      select from sending_domain
      where account_id = a.id and domain = ${domain} and state = 'verified') as d
    order by a.id limit 1`;
}

/** Up to this many domains are counted. */
const maxCounted = 10_000;

/** The number of sending domains of all accounts by state. */
export async function countSendingDomains(
  kysely: Kysely,
): Promise<ReadonlyMap<DomainState, number>> {
  const rows = await allRows<{ state: DomainState; count: number }>(kysely)`
    select state, count(*)::int as count from (
      select d.state from account a
      cross join lateral (select state from sending_domain where account_id = a.id) d
      limit ${maxCounted}) counted
    group by state`;
  return new Map(rows.map(({ state, count }) => [state, count]));
}

/** Whether an account has shown by DNS that a domain is its own. */
export function hasVerifiedDomain(
  kysely: Kysely,
  accountId: AccountId,
  domain: string,
): Promise<boolean> {
  return hasRow(kysely)`
    select from sending_domain
    where account_id = ${accountId} and domain = ${domain} and state = 'verified'`;
}
