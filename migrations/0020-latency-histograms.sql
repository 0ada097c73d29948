-- Times to delivery as one row for each time and template, with the whole histogram in one value: the step (two bytes) and
-- the count (four bytes) of each step that has any, in the order of the steps. Put one after the other, histograms stay one.
create table report_latency_packed (
  account_id text not null,
  quarter timestamptz not null,
  template_id text not null,
  histogram bytea not null
);
insert into report_latency_packed
select account_id, quarter, template_id,
  string_agg(int2send(step) || int4send(count), ''::bytea order by step)
from report_latency
group by 1, 2, 3
order by 1, 3, 2;

create table report_latency_sum_packed (
  account_id text not null,
  span text not null,
  template_id text not null,
  begins timestamptz not null,
  histogram bytea not null
);
insert into report_latency_sum_packed
select account_id, span, template_id, begins,
  string_agg(int2send(step) || int4send(count), ''::bytea order by step)
from report_latency_sum
group by 1, 2, 3, 4
order by 1, 2, 3, 4;

drop table report_latency, report_latency_sum;
alter table report_latency_packed rename to report_latency;
alter table report_latency
  add constraint report_latency_pkey primary key (account_id, quarter, template_id),
  add constraint report_latency_account_id_fkey foreign key (account_id) references account on delete cascade;
create index report_latency_template on report_latency (account_id, template_id, quarter);
alter table report_latency_sum_packed rename to report_latency_sum;
alter table report_latency_sum
  add constraint report_latency_sum_pkey primary key (account_id, span, template_id, begins),
  add constraint report_latency_sum_account_id_fkey foreign key (account_id) references account on delete cascade,
  add constraint report_latency_sum_span_check check (span in ('quarter', 'day'));

analyze report_latency, report_latency_sum;

-- Up to when an account's rows of reports lie in the order in which reports read them. The service orders what came before,
-- too, one day after the other.
create table report_ordered (
  account_id text primary key references account on delete cascade,
  until timestamptz not null
);
