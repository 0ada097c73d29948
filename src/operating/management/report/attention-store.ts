import { sql } from 'kysely';
import { readEmails } from '../../../accounts/account/person-store.ts';
import { hasSecondFactor } from '../../../accounts/account/second-factor-sql.ts';
import type { Kysely } from '../../../base/database/open-database.ts';
import { allRows, firstRow } from '../../../base/database/statements.ts';
import type { AccountId, PersonId } from '../../../base/values/ids.ts';
import { throttledPhrase } from '../../../sending/delivery/shaping/explain-throttle.ts';

/** A throttled receiver and its backlog. */
export interface ThrottledReceiver {
  readonly label: string;
  readonly waiting: number;
  /** Current messages per second. */
  readonly rate: number;
}

/** A webhook that needs attention. */
interface AffectedWebhook {
  readonly id: string;
  readonly url: string;
}

/** The state of an account that attention items are derived from. */
export interface AttentionFacts {
  readonly brokenDomains: readonly string[];
  readonly pendingDomains: readonly string[];
  readonly failingWebhooks: readonly AffectedWebhook[];
  readonly pausedWebhooks: readonly AffectedWebhook[];
  readonly unverifiedSenders: readonly string[];
  readonly verifiedSenders: number;
  readonly publishedTemplates: number;
  /** A key or an integration with which programs can send. */
  readonly canProgramsSend: boolean;
  readonly held: number;
  readonly pauses: readonly string[];
}

/** Reads the small tables of an account and its held messages in one statement, and who can send in another. */
export async function readAttentionFacts(
  kysely: Kysely,
  accountId: AccountId,
): Promise<AttentionFacts> {
  const facts = await firstRow<Omit<AttentionFacts, 'canProgramsSend'>>(kysely)`
    select
      array(select domain from sending_domain where account_id = ${accountId} and state = 'broken' order by 1) as "brokenDomains",
      array(select domain from sending_domain where account_id = ${accountId} and state = 'pending' order by 1) as "pendingDomains",
      array(select json_build_object('id', id, 'url', url) from webhook_endpoint
        where account_id = ${accountId} and failing_since is not null and paused_at is null order by url) as "failingWebhooks",
      array(select json_build_object('id', id, 'url', url) from webhook_endpoint
        where account_id = ${accountId} and paused_at is not null order by url) as "pausedWebhooks",
      array(select address from sender where account_id = ${accountId} and verified_at is null order by 1) as "unverifiedSenders",
      (select count(*)::int from sender where account_id = ${accountId} and verified_at is not null) as "verifiedSenders",
      (select count(*)::int from template
        where account_id = ${accountId} and removed_at is null and published_version is not null) as "publishedTemplates",
      (select count(*)::int from (
        select distinct message_id from queued_delivery
        where account_id = ${accountId} and due_at = 'infinity' limit 10000) h) as held,
      array(select destination from delivery_pause where account_id = ${accountId} order by 1) as pauses`;
  if (facts === undefined) throw new Error('the select returned no row');
  return { ...facts, canProgramsSend: await canProgramsSend(kysely, accountId) };
}

/** Beyond this many queued deliveries, the counts are partial. */
const maxScannedEntries = 10_000;

/** Throttled receivers that the account has mail queued for, largest backlog first. */
export async function readThrottledReceivers(
  kysely: Kysely,
  accountId: AccountId,
): Promise<ThrottledReceiver[]> {
  return await allRows<ThrottledReceiver>(kysely)`
    select d.label, w.waiting, coalesce(d.override_rate, d.rate) as rate
    from (
      select substring(reason from ${`^waiting: (.*) ${throttledPhrase} `}) as label, count(*)::int as waiting
      from (select reason from queued_delivery where account_id = ${accountId} limit ${maxScannedEntries}) q
      group by 1) w
    join destination d on d.label = w.label
    where d.slowed_at is not null
    order by w.waiting desc, d.label limit 20`;
}

/** Whether a program has, or can get, what it needs to send. Tokens of the password grant need a user without second factor. */
export async function canProgramsSend(kysely: Kysely, accountId: AccountId): Promise<boolean> {
  const row = await firstRow<{ can: boolean }>(kysely)`select
    exists (select from api_key k
      where k.account_id = ${accountId} and 'messages:send' = any (k.scopes) and (k.expires_at is null or k.expires_at > now()))
    or exists (select from integration i
      where i.account_id = ${accountId} and i.disabled_at is null and 'authorization_code' = any (i.grants))
    or exists (select from integration i
      where i.account_id = ${accountId} and i.disabled_at is null and 'password' = any (i.grants)
        and exists (select from membership m join person p on p.id = m.person_id
          where m.account_id = ${accountId} and m.role in ('owner', 'developer', 'service')
            and p.password_hash is not null and p.disabled_at is null
            and not ${hasSecondFactor(sql.ref('p.id'))})) as can`;
  return row?.can === true;
}

/** What an account has that sending needs; each only counts if it really works. */
export async function readSendReadiness(kysely: Kysely, accountId: AccountId) {
  const creators = await readEmails(kysely, await readCreators(kysely, accountId));
  const readiness = await firstRow<{ sender: boolean; template: boolean; message: boolean }>(
    kysely,
  )`
    select
      exists (select from sender where account_id = ${accountId} and verified_at is not null) as sender,
      exists (select from template t
        join template_version v
          on v.account_id = ${accountId} and v.template_id = t.id and v.version = t.published_version
        left join unnest(${[...creators.keys()]}::uuid[], ${[...creators.values()]}::text[]) as p (id, email)
          on p.id = t.created_by
        join sender s on s.account_id = ${accountId} and s.address = coalesce(v.sender_address, p.email)
        where t.account_id = ${accountId} and t.removed_at is null and s.verified_at is not null) as template,
      exists (select from message where account_id = ${accountId} and client_id <> 'console') as message`;
  if (readiness === undefined) throw new Error('the select returned no row');
  return { ...readiness, key: await canProgramsSend(kysely, accountId) };
}

/** Whose address is the sender of a published template without one of its own. */
async function readCreators(kysely: Kysely, accountId: AccountId): Promise<(PersonId | null)[]> {
  const rows = await allRows<{ id: PersonId | null }>(kysely)`
    select distinct created_by as id from template
    where account_id = ${accountId} and removed_at is null and published_version is not null`;
  return rows.map(({ id }) => id);
}
