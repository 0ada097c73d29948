import { type RawBuilder, sql } from 'kysely';
import { hardCauses } from '../feedback/suppression/suppress-bounced-store.ts';

type Condition = RawBuilder<unknown>;

/**
 * One row for each counted fact: recipients of matching messages, and matching events with their message's details.
 * Live windows and rebuilds share this query, so they give the same numbers.
 * The limited lateral join keeps each message lookup to one key probe. Without table statistics, the planner would
 * otherwise scan the account's messages for every event.
 * @param messages condition on `m`
 * @param events condition on `e`
 */
export function reportFacts(messages: Condition, events: Condition): RawBuilder<unknown> {
  return sql`
    select m.account_id, date_bin('15 minutes', m.accepted_at, '2000-01-01') as quarter, m.template_id,
      coalesce(m.tag, '') as tag, ${domainOf(sql`c.sender ->> 'address'`)} as sender_domain,
      ${domainOf(sql`r.address`)} as destination_domain, 'accepted' as kind, null::text as class, false as hard,
      false as first, null::float8 as took
    from message m ${parties}
    cross join lateral (
      select c.recipient as address
      union all
      select json_array_elements_text(c.copies)) as r
    where ${messages}
    union all
    select m.account_id, date_bin('15 minutes', e.at, '2000-01-01'), m.template_id, coalesce(m.tag, ''),
      ${domainOf(sql`c.sender ->> 'address'`)},
      ${domainOf(sql`case when coalesce(e.recipient, 0) = 0 then c.recipient else c.copies ->> (e.recipient - 1) end`)},
      e.kind, f.class,
      case when e.kind = 'bounced' then
        coalesce(e.detail ->> 'cause' = any (${hardCauses}::text[]) and coalesce(e.detail ->> 'permanent', 'true') = 'true', false)
        else false end,
      f.class is not null and not exists (
        select from message_event p
        where p.account_id = e.account_id and p.message_id = e.message_id and p.retention_days = e.retention_days
          and p.kind = e.kind and (p.tx, p.id) < (e.tx, e.id)
          and case p.detail ->> 'class' when 'person' then 'people' else 'machines' end = f.class),
      case when e.kind = 'delivered' and coalesce(e.recipient, 0) = 0
        then extract(epoch from e.at - m.accepted_at) * 1000 end
    from message_event e
    cross join lateral (
      select message.account_id, message.template_id, message.tag, message.accepted_at, message.content
      from message
      where message.account_id = e.account_id and message.id = e.message_id and message.retention_days = e.retention_days
      limit 1) as m
    ${parties}
    cross join lateral (
      select case when e.kind in ('opened', 'clicked')
        then case e.detail ->> 'class' when 'person' then 'people' else 'machines' end end as class) as f
    where ${events}`;
}

/** Sender and recipients of message `m`, as `c`. Parsed once because the content is large; null once erased. */
const parties = sql`
  left join lateral (
    select "to" as recipient, cc as copies, "from" as sender
    from json_to_record(m.content) as content ("to" text, cc json, "from" json)) as c on true`;

/** Lowercase and limited in length; empty once the message is erased. */
function domainOf(address: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`left(lower(coalesce(split_part(${address}, '@', -1), '')), 255)`;
}

export const countFacts = sql`
  count(*) filter (where kind = 'accepted') as accepted,
  count(*) filter (where kind = 'delivered') as delivered,
  count(*) filter (where kind = 'bounced' and hard) as bounced_hard,
  count(*) filter (where kind = 'bounced' and not hard) as bounced_soft,
  count(*) filter (where kind = 'deferred') as deferred,
  count(*) filter (where kind = 'expired') as expired,
  count(*) filter (where kind = 'failed') as failed,
  count(*) filter (where kind = 'uncertain') as uncertain,
  count(*) filter (where kind = 'canceled') as canceled,
  count(*) filter (where kind = 'complained') as complained,
  count(*) filter (where kind = 'unsubscribed') as unsubscribed,
  count(*) filter (where kind = 'opened' and class = 'people') as opened_people,
  count(*) filter (where kind = 'opened' and class = 'people' and first) as opened_people_unique,
  count(*) filter (where kind = 'opened' and class = 'machines') as opened_machines,
  count(*) filter (where kind = 'opened' and class = 'machines' and first) as opened_machines_unique,
  count(*) filter (where kind = 'clicked' and class = 'people') as clicked_people,
  count(*) filter (where kind = 'clicked' and class = 'people' and first) as clicked_people_unique,
  count(*) filter (where kind = 'clicked' and class = 'machines') as clicked_machines,
  count(*) filter (where kind = 'clicked' and class = 'machines' and first) as clicked_machines_unique`;
