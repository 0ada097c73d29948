import { sql } from 'kysely';
import { alignByOrdinal } from '../../base/database/align-by-ordinal.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows } from '../../base/database/statements.ts';
import { type OutcomeKind, outcomeKinds } from '../../content/message/event-kinds.ts';
import { kindList, pausedScopeOf, toDomain } from '../../content/message/message-sql.ts';
import { scheduledReason } from '../../content/message/scheduled-class.ts';
import type { StatusTarget } from '../../sending/submission/status-link.ts';

/** How far a message has come to its To recipient. */
export interface StoredProgress {
  /** Of the recipient; null once that is erased. */
  readonly domain: string | null;
  /** The next attempt, if its time is ahead. */
  readonly nextTryAt: Date | null;
  /** Paused or held for review. */
  readonly held: boolean;
  readonly scheduled: boolean;
  /** The last outcome, with its time and cause; null before the first attempt. */
  readonly kind: OutcomeKind | null;
  readonly at: Date | null;
  readonly cause: string | null;
}

/** Reads messages of several accounts; undefined for those that don't exist. Of private ones, a delivery is the last outcome. */
export async function readProgress(
  kysely: Kysely,
  targets: readonly StatusTarget[],
): Promise<(StoredProgress | undefined)[]> {
  const rows = await allRows<StoredProgress & { readonly n: number }>(kysely)`
    select k.n::integer as n, ${sql.raw(toDomain('m'))} as domain,
      case when q.due_at > now() and q.due_at < 'infinity' and q.lease_owner is null then q.due_at end as "nextTryAt",
      coalesce(q.due_at = 'infinity', false) or ${sql.raw(pausedScopeOf('q', 'm'))} is not null as held,
      coalesce(q.reason = ${scheduledReason}, false) as scheduled,
      e.kind, e.at, e.cause
    from unnest(${targets.map(({ accountId }) => accountId)}::text[],
      ${targets.map(({ messageId }) => messageId)}::uuid[],
      ${targets.map(({ isPrivate }) => isPrivate)}::boolean[])
      with ordinality as k (account_id, message_id, is_private, n)
    cross join lateral (
      select account_id, id, retention_days, content from message
      where account_id = k.account_id and id = k.message_id limit 1) as m
    left join queued_delivery q on q.account_id = k.account_id and q.message_id = k.message_id and q.recipient = 0
    left join lateral (
      select kind, at, detail ->> 'cause' as cause from message_event
      where account_id = k.account_id and message_id = k.message_id and retention_days = m.retention_days
        and recipient = 0 and kind in (${sql.raw(kindList(outcomeKinds))})
      order by k.is_private and kind = 'delivered' desc, at desc, id desc limit 1) as e on true`;
  return alignByOrdinal(rows, targets.length, (row) => row);
}
