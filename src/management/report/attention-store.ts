import { sql } from 'kysely';
import { throttledPhrase } from '../../delivery/shaping/explain-throttle.ts';
import type { Database } from '../../foundation/database/open-database.ts';
import type { AccountId } from '../../foundation/ids.ts';
import { canProgramsSend } from './send-readiness-store.ts';

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

/** Reads the small tables of an account and its held queue entries in one statement, and who can send in another. */
export async function readAttentionFacts(
  kysely: Database['kysely'],
  accountId: AccountId,
): Promise<AttentionFacts> {
  const { rows } = await sql<Omit<AttentionFacts, 'canProgramsSend'>>`
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
        select from queue_entry where account_id = ${accountId} and due_at = 'infinity' limit 10000) h) as held,
      array(select destination from delivery_pause where account_id = ${accountId} order by 1) as pauses`.execute(
    kysely,
  );
  const [facts] = rows;
  if (facts === undefined) throw new Error('the select returned no row');
  return { ...facts, canProgramsSend: await canProgramsSend(kysely, accountId) };
}

/** Beyond this many queue entries, the counts are partial. */
const maxScannedEntries = 10_000;

/** Throttled receivers that the account has mail queued for, largest backlog first. */
export async function readThrottledReceivers(
  kysely: Database['kysely'],
  accountId: AccountId,
): Promise<ThrottledReceiver[]> {
  const { rows } = await sql<ThrottledReceiver>`
    select d.label, w.waiting, coalesce(d.override_rate, d.rate) as rate
    from (
      select substring(reason from ${`^waiting: (.*) ${throttledPhrase} `}) as label, count(*)::int as waiting
      from (select reason from queue_entry where account_id = ${accountId} limit ${maxScannedEntries}) q
      group by 1) w
    join destination d on d.label = w.label
    where d.slowed_at is not null
    order by w.waiting desc, d.label limit 20`.execute(kysely);
  return rows;
}
