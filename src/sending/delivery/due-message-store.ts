import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow } from '../../base/database/statements.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { insertEvents } from '../../content/message/write-events.ts';
import type { ClaimedMessage } from '../queue/attempt.ts';

/** Addresses that a message of this account may be suppressed for. */
export interface SuppressionQuestion {
  readonly accountId: AccountId;
  readonly transactional: boolean;
  /** Normalized. */
  readonly addresses: readonly string[];
}

/** Reads the suppressed addresses of several messages in one statement. */
export async function readSuppressed(
  kysely: Kysely,
  questions: readonly SuppressionQuestion[],
): Promise<(readonly string[])[]> {
  const rows = questions.flatMap(({ accountId, transactional, addresses }, place) =>
    addresses.map((address) => ({ place, account_id: accountId, transactional, address })),
  );
  const found = await allRows<{ place: number; address: string }>(kysely)`
    select r.place, r.address
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as r (place int, account_id text, transactional boolean, address text)
    cross join lateral (
      select from suppression s
      where s.account_id = r.account_id and s.address = r.address
        and (s.reason <> 'unsubscribe' or not r.transactional)
        and (s.expires_at is null or s.expires_at > now())
      limit 1) as hit`;
  return questions.map((_, place) =>
    found.filter((row) => row.place === place).map(({ address }) => address),
  );
}

/** What a scheduled message is made from, decided once at its send time. */
export interface DueDecision {
  readonly templateVersion: number;
  /** Cc addresses to add to the skipped ones. */
  readonly suppressedCc: readonly string[];
  /** Why the accepted version is used instead of the requested one. */
  readonly versionKept: string | undefined;
}

/**
 * Saves a decision before anything is sent, so that every attempt sends the same bytes.
 * @returns false if the lease is lost
 */
export async function saveDueDecision(
  kysely: Kysely,
  message: ClaimedMessage,
  { templateVersion, suppressedCc, versionKept }: DueDecision,
): Promise<boolean> {
  const { accountId, messageId, retentionDays, owner, fence } = message;
  const kept = versionKept === undefined ? null : JSON.stringify({ reason: versionKept });
  const row = await firstRow<{ held: boolean }>(kysely)`
    with held as materialized (
      select q.message_id from queue_entry q
      where q.account_id = ${accountId} and q.message_id = ${messageId} and q.lease_owner = ${owner}
        and q.fence = ${fence} and q.due_at > now()
      for update of q),
    decided as (
      update message m
      set template_version = ${templateVersion},
        content = ((m.content::jsonb - 'templateVersion') || case when ${JSON.stringify(suppressedCc)}::jsonb = '[]' then '{}'
          else jsonb_build_object('suppressedCc',
            coalesce(m.content::jsonb -> 'suppressedCc', '[]') || ${JSON.stringify(suppressedCc)}::jsonb) end)::json
      from held
      where m.account_id = ${accountId} and m.id = held.message_id and m.retention_days = ${retentionDays}
        and m.content is not null),
    recorded as (
      ${sql.raw(insertEvents({ of: 'kept', kind: 'version-kept', detail: 'kept.detail' }))}
      from (
        select ${accountId}::text as account_id, message_id, ${retentionDays}::smallint as retention_days,
          ${kept}::json as detail
        from held) as kept
      where kept.detail is not null)
    select exists (select from held) as held`;
  return row?.held === true;
}
