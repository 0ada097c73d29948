import { type RawBuilder, sql } from 'kysely';
import { hardCauses } from '../feedback/suppression/suppress-bounced-store.ts';
import { type ReportFilter, readerEventKinds, reportColumnFacts } from '../message/event-kinds.ts';
import { contentMembers, engagementBit, kindList, startOf } from '../message/message-sql.ts';
import { defaultContent } from './report-query.ts';

type Condition = RawBuilder<unknown>;

/**
 * One row for each item that reports count: accepted recipients of the matching messages, and matching events with data of
 * their messages. A feed window and a rebuild differ only in the conditions, so they give the same numbers. The account's own copy isn't counted.
 * @param messages condition on `m` @param events condition on `e`
 */
export function reportFacts(messages: Condition, events: Condition): RawBuilder<unknown> {
  // An event's message is a lateral lookup with a limit, which makes it one index probe. Without statistics, the planner
  // would otherwise read all messages of an account for each event.
  return sql`
    select m.account_id, date_bin('15 minutes', m.accepted_at, '2000-01-01') as quarter, m.template_id,
      coalesce(m.tag, '') as tag, ${locale} as locale, ${domainOf(sql`c.sender ->> 'address'`)} as sender_domain,
      ${domainOf(sql`r.address`)} as destination_domain, 'accepted' as kind, null::text as class, false as hard,
      false as first, null::float8 as took
    from message m ${parties}
    cross join lateral (
      select c.recipient as address
      union all
      select json_array_elements_text(c.copies)) as r
    where ${messages}
    union all
    select m.account_id, date_bin('15 minutes', e.at, '2000-01-01'), m.template_id, coalesce(m.tag, ''), ${locale},
      ${domainOf(sql`c.sender ->> 'address'`)},
      ${domainOf(sql`case when coalesce(e.recipient, 0) = 0 then c.recipient else c.copies ->> (e.recipient - 1) end`)},
      e.kind, f.class,
      case when e.kind = 'bounced' then
        coalesce(e.detail ->> 'cause' = any (${hardCauses}::text[]) and coalesce(e.detail ->> 'permanent', 'true') = 'true', false)
        else false end,
      f.class is not null and coalesce(m.engaged, 0) & ${sql.raw(engagementBit('e'))} = 0 and not exists (
        select from message_event p
        where p.account_id = e.account_id and p.message_id = e.message_id and p.retention_days = e.retention_days
          and p.kind = e.kind and (p.tx, p.id) < (e.tx, e.id)
          and case p.detail ->> 'class' when 'person' then 'people' else 'machines' end = f.class),
      case when e.kind = 'delivered' and coalesce(e.recipient, 0) = 0
        then extract(epoch from e.at - ${sql.raw(startOf('m', 'e.retention_days'))}) * 1000 end
    from message_event e
    cross join lateral (
      select message.account_id, message.template_id, message.tag, message.accepted_at, message.content, message.engaged
      from message
      where message.account_id = e.account_id and message.id = e.message_id and message.retention_days = e.retention_days
      limit 1) as m
    ${parties}
    cross join lateral (
      select case when e.kind in (${sql.raw(kindList(readerEventKinds))})
        then case e.detail ->> 'class' when 'person' then 'people' else 'machines' end end as class) as f
    where ${events} and (c.archive is null or e.recipient is distinct from 1 + coalesce(json_array_length(c.copies), 0))`;
}

/** Sender, recipients and variant of message `m` as `c`, which parses the long content only once. Null once it is erased. */
const parties = sql`
  left join lateral (
    select "to" as recipient, cc as copies, "from" as sender, variant, archive
    from ${sql.raw(contentMembers('m', 'content', ['to', 'cc', 'from', 'variant', 'archive']))}) as c on true`;

/** Empty for the default content. */
const locale = sql`coalesce(nullif(c.variant #>> '{}', ${sql.lit(defaultContent)}), '')`;

/** The domain in lower case, at most 255 characters; empty once the message is erased. */
function domainOf(address: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`left(lower(coalesce(split_part(${address}, '@', -1), '')), 255)`;
}

/** Conditions, besides the kind, for a fact to count in a column. */
const filters: Readonly<Record<ReportFilter, string>> = {
  all: '',
  hard: ' and hard',
  soft: ' and not hard',
  people: " and class = 'people'",
  'first of people': " and class = 'people' and first",
  machines: " and class = 'machines'",
  'first of machines': " and class = 'machines' and first",
};

/** The counts of a group of facts. */
export const countFacts = sql.raw(
  reportColumnFacts
    .map(
      ({ name, kind, filter }) =>
        `count(*) filter (where kind = '${kind}'${filters[filter]}) as ${name}`,
    )
    .join(',\n  '),
);
