import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { run } from '../../base/database/statements.ts';
import { outcomeKinds } from '../../content/message/event-kinds.ts';
import { maxRecipients } from '../../content/message/message-content.ts';
import {
  attributeHash,
  attributeRows,
  contentMembers,
  kindList,
} from '../../content/message/message-sql.ts';
import { type Follower, readersRestMs } from '../feed/event-feed.ts';
import { type FeedRange, inWindow, piecesOf } from '../feed/feed-window-store.ts';

/**
 * Writes search rows and attributes and updates states, following the messages. Updating a state costs as much as
 * inserting the row, because every index gets another entry, so rows are inserted with the current state. Recipients
 * are numbered from To (0); suppressed Cc and Bcc addresses are numbered from 12.
 */
export const writeSearchRows: Follower = {
  name: 'search',
  restMs: readersRestMs,
  async follow(transaction, window, throttle) {
    for (const piece of piecesOf(window)) await throttle(() => insertRows(transaction, piece));
    await run(
      transaction,
    )`select set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`;
    // Row by row: in a join of a few hundred rows, the planner would scan whole tables of about 10,000.
    await run(transaction)`
      update message_search s set state = e.kind
      from (
        select distinct on (account_id, message_id, recipient) account_id, message_id, retention_days,
          coalesce(recipient, 0) as recipient, kind
        from message_event
        where ${inWindow(window, 'message_event')}
          and kind in (${sql.raw(kindList(outcomeKinds))})
        order by account_id, message_id, recipient, at desc, id desc) as e
      where s.account_id = e.account_id and s.message_id = e.message_id and s.retention_days = e.retention_days
        and s.recipient = e.recipient and s.state <> e.kind`;
  },
};

async function insertRows(transaction: Kysely, range: FeedRange): Promise<void> {
  await run(transaction)`
    with attributed as (
      insert into message_attribute (account_id, hash, message_id, retention_days)
      select m.account_id, ${sql.raw(attributeHash("a.key || '=' || a.value"))}, m.id, m.retention_days
      from message m cross join lateral ${sql.raw(attributeRows('m'))} as a
      where ${inWindow(range, 'm')}
      on conflict do nothing)
    insert into message_search (account_id, message_id, retention_days, recipient, address, state, template_id, tag,
      external_id)
    select m.account_id, m.id, m.retention_days, r.place, lower(r.address), r.state, m.template_id, m.tag, m.external_id
    from message m
    left join lateral ${sql.raw(contentMembers('m', 'content', ['to', 'cc', 'suppressedCc']))} on true
    cross join lateral (
      select 0::bigint as place, content."to" as address, m.state as state
      union all
      select c.place, c.address, 'queued'
      from json_array_elements_text(content.cc) with ordinality as c (address, place)
      union all
      select c.place + ${maxRecipients - 1}, c.address, 'suppressed'
      from json_array_elements_text(content."suppressedCc") with ordinality as c (address, place)) as r
    where ${inWindow(range, 'm')}
    on conflict do nothing`;
}
