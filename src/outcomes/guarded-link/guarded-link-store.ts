import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { countChanged, firstRow } from '../../base/database/statements.ts';
import type { AccountId, MessageId } from '../../base/values/ids.ts';
import type { GuardedLink } from '../../content/message/guarded-link.ts';
import { startOf } from '../../content/message/message-sql.ts';
import { insertEvents } from '../../content/message/write-events.ts';
import { maxLinkVisits, maxLinkVisitsPerMessage } from '../event-limits.ts';
import type { ReaderVerdict } from '../tracking/classify-reader.ts';

/** What a link does now. It ends with its message, and when a user revokes it. */
export type GuardedLinkState = 'open' | 'expired' | 'ended';

/** SQL: the event rows of message `m` of a kind. */
const eventsOf = (kind: string) =>
  `message_event e where e.account_id = m.account_id and e.message_id = m.id
    and e.retention_days = m.retention_days and e.kind = '${kind}'`;

/**
 * Reads a link's state and records the visit of an open one as an event, up to a limit per field that concurrent visits may
 * exceed. The first use by a person has the time since delivery, which reports show.
 */
export async function visitGuardedLink(
  kysely: Kysely,
  { accountId, messageId, retentionDays, field, days }: GuardedLink,
  kind: 'link-scanned' | 'link-confirmed',
  verdict: ReaderVerdict,
): Promise<GuardedLinkState> {
  const waited =
    kind === 'link-scanned'
      ? 'null'
      : `case when seen.count = 0 and visit.class = 'person' then (select round(extract(epoch from now() - min(e.at)) * 1000) from ${eventsOf('delivered')} and coalesce(e.recipient, 0) = 0) end`;
  const row = await firstRow<{ state: GuardedLinkState }>(kysely)`
    with m as materialized (
      select account_id, id, id as message_id, retention_days,
        case when content is null or exists (select from ${sql.raw(eventsOf('links-revoked'))}) then 'ended'
          when ${sql.raw(startOf('m', 'retention_days'))} + ${days}::integer * interval '1 day' <= now() then 'expired'
          else 'open' end as state
      from message m
      where account_id = ${accountId} and id = ${messageId} and retention_days = ${retentionDays}),
    written as (
      ${sql.raw(
        insertEvents({
          of: 'm',
          kind,
          detail: `json_strip_nulls(json_build_object('field', visit.field, 'class', visit.class, 'reason', visit.reason, 'afterDeliveryMs', ${waited}))`,
        }),
      )}
      from m cross join (select ${field}::text as field, ${verdict.class}::text as class, ${verdict.reason}::text as reason) as visit
      cross join lateral (
        select count(*) filter (where e.detail ->> 'field' = visit.field) as count, count(*) as total
        from ${sql.raw(eventsOf(kind))}) as seen
      where m.state = 'open' and seen.count < ${maxLinkVisits} and seen.total < ${maxLinkVisitsPerMessage})
    select state from m`;
  return row?.state ?? 'ended';
}

/**
 * Ends the guarded links of a message with one event.
 * @returns false if they had ended already
 */
export async function revokeGuardedLinks(
  transaction: Kysely,
  message: { readonly accountId: AccountId; readonly messageId: MessageId },
): Promise<boolean> {
  const changed = await countChanged(transaction)`
    ${sql.raw(insertEvents({ of: 'm', kind: 'links-revoked', detail: `'{}'::json` }))}
    from (
      select account_id, id, id as message_id, retention_days from message
      where account_id = ${message.accountId} and id = ${message.messageId} and content is not null for update) as m
    where not exists (select from ${sql.raw(eventsOf('links-revoked'))})`;
  return changed > 0;
}
