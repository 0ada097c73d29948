import type { Database } from '../../base/database/open-database.ts';
import { readerEventKinds } from '../../content/message/event-kinds.ts';
import { hasNoCc, kindList } from '../../content/message/message-sql.ts';
import { insertEvents, sinceTime, timeBefore } from '../../content/message/write-events.ts';
import { maxClicksPerMessage, maxEngagements } from '../event-limits.ts';
import type { Engagement } from './engagement.ts';

/** How long an open or click waits for the outcome of a delivery, which the death of its worker can delay. */
const maxWaitMs = 60_000;

export interface WrittenEngagements {
  /** IDs of events whose limit was already reached. */
  readonly full: ReadonlySet<string>;
  /** IDs of events that aren't written, because only the outcome of a delivery will tell what they are. */
  readonly undecided: ReadonlySet<string>;
}

/**
 * Writes opens and clicks as events, up to a limit per message that concurrent nodes may exceed by a batch each.
 * Anything before delivery is a scanner on the way to the mailbox, except with Cc, where another recipient may already
 * have the message. While the message may have been handed over and its outcome isn't recorded, its opens are undecided: both are
 * written late after an outage of the database.
 * @param decide treats a message without an outcome as not delivered
 */
export async function writeEngagements(
  database: Pick<Database, 'pool'>,
  items: readonly Engagement[],
  decide: boolean,
): Promise<WrittenEngagements> {
  const { rows } = await database.pool.query<{ id: string; undecided: boolean }>({
    name: 'engagement-write',
    text: `
      with given as materialized (
        select i.account_id, i.message_id, i.retention_days, i.id, m.at, i.kind, i.class as read_class,
          case when m.early and i.class = 'person' and m.content is not null then 'scanner' else i.class end as class,
          i.detail ->> 'link' as link, coalesce(dot.undecided, false) as undecided,
          case when m.content is null then (i.detail::jsonb - 'userAgent' - 'network')::json
            when i.class = 'person' and m.early
              then (i.detail::jsonb || '{"class":"scanner","reason":"came before the message was delivered"}'::jsonb)::json
            else i.detail end as detail
        from json_to_recordset($1::json) as i (account_id text, message_id uuid, retention_days smallint, id uuid,
          ago float8, kind text, class text, decided boolean, detail json)
        -- One lookup per row: the planner would read whole partitions for a few hundred.
        cross join lateral (
          select content, at, (state in ('queued', 'deferred') or (state in ('delivered', 'bounced', 'expired') and at < state_at))
            and ${hasNoCc('message')} as early
          from message cross join (select ${timeBefore('i.ago')} as at) as received
          where account_id = i.account_id and id = i.message_id and retention_days = i.retention_days
          limit 1
        ) m
        left join lateral (
          select true as undecided from queued_delivery q
          where m.early and m.content is not null and i.class = 'person' and not i.decided
            and q.account_id = i.account_id and q.message_id = i.message_id and q.stage = 'dot'
          limit 1
        ) dot on true),
      stored as materialized (
        select g.account_id, g.message_id, e.kind, e.class, e.link, e.count,
          sum(e.count) over (partition by g.account_id, g.message_id, e.kind, e.class) as total
        from (select distinct account_id, message_id, retention_days from given) g
        cross join lateral (
          select kind, detail ->> 'class' as class, detail ->> 'link' as link, count(*) as count from message_event
          where account_id = g.account_id and message_id = g.message_id and retention_days = g.retention_days
            and kind in (${kindList(readerEventKinds)})
          group by 1, 2, 3
        ) e),
      placed as (
        select g.*, coalesce(s.count, 0) as stored, coalesce(t.total, 0) as total,
          row_number() over (partition by g.account_id, g.message_id, g.kind, g.class, g.link order by g.at, g.id) as place,
          row_number() over (partition by g.account_id, g.message_id, g.kind, g.class order by g.at, g.id) as place_in_all
        from given g
        left join stored s on s.account_id = g.account_id and s.message_id = g.message_id and s.kind = g.kind
          and s.class = g.class and s.link is not distinct from g.link
        left join lateral (
          select total from stored
          where account_id = g.account_id and message_id = g.message_id and kind = g.kind and class = g.class
          limit 1
        ) t on true
        where not g.undecided),
      written as (
        ${insertEvents({
          of: 'placed',
          id: 'id',
          at: 'at',
          kind: { from: 'kind' },
          detail: 'detail',
        })}
        from placed
        where stored + place <= $2 and total + place_in_all <= $3
        on conflict do nothing)
      select id, false as undecided from placed where (stored >= $2 or total >= $3) and class = read_class
      union all select id, true from given where undecided`,
    values: [
      JSON.stringify(items.map((item) => rowOf(item, decide))),
      maxEngagements,
      maxClicksPerMessage,
    ],
  });
  const idsOf = (undecided: boolean): ReadonlySet<string> =>
    new Set(rows.flatMap((row) => (row.undecided === undecided ? [row.id] : [])));
  return { full: idsOf(false), undecided: idsOf(true) };
}

function rowOf(item: Engagement, decide: boolean): Record<string, unknown> {
  const { message, verdict, waitsSince } = item;
  return {
    account_id: message.accountId,
    message_id: message.messageId,
    retention_days: message.retentionDays,
    id: item.id,
    ago: sinceTime(item.at),
    kind: item.kind,
    class: verdict.class,
    decided: decide || (waitsSince !== undefined && sinceTime(waitsSince) > maxWaitMs),
    detail: {
      ...(item.link !== undefined && { link: item.link }),
      class: verdict.class,
      ...(item.hidden && { hidden: true }),
      reason: verdict.reason,
      network: item.network,
      userAgent: item.userAgent,
    },
  };
}
