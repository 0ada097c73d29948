import { type RawBuilder, sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { run } from '../../base/database/statements.ts';
import { simulatedDomain } from '../../base/values/simulated-address.ts';
import {
  eventKinds,
  type SuppressingKind,
  suppressingKinds,
} from '../../content/message/event-kinds.ts';
import { recipientAddress } from '../../content/message/message-sql.ts';
import { isLive } from '../../content/message/test-class.ts';
import { hardCauses } from '../../sending/delivery/reply-rules.ts';
import type { Follower } from '../feed/event-feed.ts';
import { type FeedRange, inWindow } from '../feed/feed-window-store.ts';

/**
 * Suppresses recipients after hard bounces and complaints. The address comes from the message's content, never from a
 * report, so a forged report can't suppress another address.
 */
export const suppressBounced: Follower = {
  name: 'suppression',
  follow: suppressWindow,
};

/** Which events of each kind suppress. */
const conditions: Readonly<Record<SuppressingKind, RawBuilder<unknown>>> = {
  bounced: sql`(e.kind = 'bounced' and e.detail ->> 'cause' = any (${hardCauses}::text[])
    and coalesce(e.detail ->> 'permanent', 'true') = 'true')`,
  complained: sql`e.kind = 'complained'`,
  // Unsubscribing on our own page suppresses immediately, and may be undone before this runs.
  unsubscribed: sql`(e.kind = 'unsubscribed' and e.detail ->> 'how' is null)`,
};

const reasons = suppressingKinds
  .map((kind) => `when '${kind}' then '${eventKinds[kind].suppresses}'`)
  .join(' ');

async function suppressWindow(transaction: Kysely, range: FeedRange): Promise<void> {
  // Insert in key order, so that concurrent writers can't deadlock.
  await run(transaction)`
    insert into suppression as s (account_id, address, reason, message_id, created_at)
    select distinct on (account_id, address, reason) account_id, address, reason, message_id, at
    from (
      select e.account_id, e.message_id, e.at,
        lower(${sql.raw(recipientAddress('m', 'e.recipient'))}) as address,
        case e.kind ${sql.raw(reasons)} end as reason
      from message_event e
      -- Lateral with a limit: one index lookup, whatever the planner estimates.
      cross join lateral (
        select content from message
        where account_id = e.account_id and id = e.message_id and retention_days = e.retention_days
        limit 1) as m
      where ${inWindow(range, 'e')} and ${sql.raw(isLive('e.retention_days'))}
        and (${sql.join(
          suppressingKinds.map((kind) => conditions[kind]),
          sql` or `,
        )})
        -- Events of DELIVERY_REDIRECT's address say nothing about the recipient.
        and not exists (
          select from message_event r where r.account_id = e.account_id and r.message_id = e.message_id
            and r.retention_days = e.retention_days and r.kind = 'redirected')
    ) as found
    where address is not null
      -- Addresses of the reserved test domain stay usable.
      and address not like ${`%@${simulatedDomain}`}
      -- A scalar subquery never becomes a join, which could begin with the accounts and read all events of each.
      and (select account.id from account where account.id = found.account_id) is not null
    order by account_id, address, reason, at
    -- These entries never expire. One that has expired counts as absent.
    on conflict (account_id, address, reason) do update
    set expires_at = null,
      message_id = case when s.expires_at <= now() then excluded.message_id else s.message_id end,
      created_at = case when s.expires_at <= now() then excluded.created_at else s.created_at end
    where s.expires_at is not null`;
}
