import type { Database } from '../../foundation/database/open-database.ts';
import type { Engagement } from './engagement.ts';

/**
 * Writes opens and clicks as events of their messages. What came before the message was delivered is a scanner on the way
 * to the mailbox; with Cc recipients that cannot be told, since one may have it before another. Nothing is written for
 * messages that are not there any more, and nothing of the reader's machine where the content was erased.
 */
export async function writeEngagements(
  database: Pick<Database, 'pool'>,
  items: readonly Engagement[],
): Promise<void> {
  await database.pool.query({
    name: 'engagement-write',
    text: `
      insert into message_event (account_id, message_id, retention_days, id, at, kind, detail)
      select i.account_id, i.message_id, i.retention_days, i.id, i.at, i.kind,
        case when m.content is null then (i.detail::jsonb - 'userAgent' - 'network')::json
          when i.class = 'person'
            and (m.state in ('queued', 'deferred') or (m.state = 'delivered' and i.at < m.state_at))
            and m.content -> 'cc' is null
          then (i.detail::jsonb || '{"class":"scanner","reason":"came before the message was delivered"}'::jsonb)::json
          else i.detail end
      from json_to_recordset($1::json) as i (account_id text, message_id uuid, retention_days smallint, id uuid,
        at timestamptz, kind text, class text, detail json)
      -- For each by itself: the planner would read whole partitions for a few hundred.
      cross join lateral (
        select state, state_at, content from message
        where account_id = i.account_id and id = i.message_id and retention_days = i.retention_days
        limit 1
      ) m
      on conflict do nothing`,
    values: [JSON.stringify(items.map(rowOf))],
  });
}

function rowOf(item: Engagement): Record<string, unknown> {
  const { message, verdict } = item;
  return {
    account_id: message.accountId,
    message_id: message.messageId,
    retention_days: message.retentionDays,
    id: item.id,
    at: new Date(item.at).toISOString(),
    kind: item.kind,
    class: verdict.class,
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
