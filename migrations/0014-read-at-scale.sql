-- Totals summed up over what a report does not name, so that each is a short range of an index: of every quarter by one
-- thing, and of every day (UTC). Written with the totals themselves.
create table report_sum (
  like report_total including defaults,
  span text not null check (span in ('quarter', 'day')),
  sum_of text not null check (sum_of in ('all', 'template', 'tag', 'sender', 'destination', 'template_tag')),
  key text not null
);
alter table report_sum rename column quarter to begins;
alter table report_sum
  drop column template_id, drop column sender_domain,
  add primary key (account_id, span, sum_of, key, tag, begins),
  add foreign key (account_id) references account on delete cascade;

create table report_latency_sum (
  account_id text not null references account on delete cascade,
  span text not null check (span in ('quarter', 'day')),
  template_id text not null,
  begins timestamptz not null,
  step smallint not null,
  count integer not null,
  primary key (account_id, span, template_id, begins, step)
);

-- One template's or one destination's quarters.
create index report_total_template on report_total (account_id, template_id, tag, quarter);
create index report_destination_domain on report_destination (account_id, destination_domain, quarter);
create index report_latency_template on report_latency (account_id, template_id, quarter);

insert into report_sum (account_id, span, sum_of, key, tag, begins,
  accepted, delivered, bounced_hard, bounced_soft, deferred, expired, failed, uncertain, canceled, complained,
  unsubscribed, opened_people, opened_people_unique, opened_machines, opened_machines_unique, clicked_people,
  clicked_people_unique, clicked_machines, clicked_machines_unique)
select t.account_id, s.span, s.sum_of, s.key, s.tag, s.begins,
  sum(accepted), sum(delivered), sum(bounced_hard), sum(bounced_soft), sum(deferred), sum(expired), sum(failed),
  sum(uncertain), sum(canceled), sum(complained), sum(unsubscribed), sum(opened_people), sum(opened_people_unique),
  sum(opened_machines), sum(opened_machines_unique), sum(clicked_people), sum(clicked_people_unique),
  sum(clicked_machines), sum(clicked_machines_unique)
from report_total t
cross join lateral (values
  ('quarter', 'all', '', '', t.quarter),
  ('quarter', 'template', t.template_id, '', t.quarter),
  ('quarter', 'tag', t.tag, '', t.quarter),
  ('quarter', 'sender', t.sender_domain, '', t.quarter),
  ('day', 'all', '', '', date_bin('1 day', t.quarter, '2000-01-01 00:00Z')),
  ('day', 'template', t.template_id, '', date_bin('1 day', t.quarter, '2000-01-01 00:00Z')),
  ('day', 'tag', t.tag, '', date_bin('1 day', t.quarter, '2000-01-01 00:00Z')),
  ('day', 'sender', t.sender_domain, '', date_bin('1 day', t.quarter, '2000-01-01 00:00Z')),
  ('day', 'template_tag', t.template_id, t.tag, date_bin('1 day', t.quarter, '2000-01-01 00:00Z')))
  as s (span, sum_of, key, tag, begins)
group by 1, 2, 3, 4, 5, 6;

insert into report_sum (account_id, span, sum_of, key, tag, begins,
  accepted, delivered, bounced_hard, bounced_soft, deferred, expired, failed, uncertain, canceled, complained,
  unsubscribed, opened_people, opened_people_unique, opened_machines, opened_machines_unique, clicked_people,
  clicked_people_unique, clicked_machines, clicked_machines_unique)
select account_id, 'day', 'destination', destination_domain, '', date_bin('1 day', quarter, '2000-01-01 00:00Z'),
  sum(accepted), sum(delivered), sum(bounced_hard), sum(bounced_soft), sum(deferred), sum(expired), sum(failed),
  sum(uncertain), sum(canceled), sum(complained), sum(unsubscribed), sum(opened_people), sum(opened_people_unique),
  sum(opened_machines), sum(opened_machines_unique), sum(clicked_people), sum(clicked_people_unique),
  sum(clicked_machines), sum(clicked_machines_unique)
from report_destination
group by 1, 4, 6;

insert into report_latency_sum (account_id, span, template_id, begins, step, count)
select t.account_id, s.span, s.template_id, s.begins, t.step, sum(t.count)
from report_latency t
cross join lateral (values
  ('quarter', '', t.quarter),
  ('day', '', date_bin('1 day', t.quarter, '2000-01-01 00:00Z')),
  ('day', t.template_id, date_bin('1 day', t.quarter, '2000-01-01 00:00Z'))) as s (span, template_id, begins)
group by 1, 2, 3, 4, 5;

-- What waits or failed is looked for among very many that were delivered.
create index webhook_delivery_undelivered on webhook_delivery (account_id, endpoint_id, state, place) where state <> 'delivered';

-- A Cc address that was left out, as it was suppressed, is found like the others: it counts from 6 on.
insert into message_search (account_id, message_id, retention_days, recipient, address, state, template_id, tag, external_id)
select m.account_id, m.id, m.retention_days, c.place + 5, lower(c.address), 'suppressed', m.template_id, m.tag, m.external_id
from message m
cross join lateral json_array_elements_text(m.content -> 'suppressedCc') with ordinality as c (address, place)
where m.tx < (select tx from feed_cursor where name = 'search')
on conflict do nothing;
