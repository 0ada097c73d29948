-- Totals by quarter of an hour, so that days of every time zone are exact. Only followers write them.
create table report_total (
  account_id text not null references account on delete cascade,
  quarter timestamptz not null,
  template_id text not null,
  tag text not null,
  sender_domain text not null,
  accepted integer not null default 0,
  delivered integer not null default 0,
  bounced_hard integer not null default 0,
  bounced_soft integer not null default 0,
  deferred integer not null default 0,
  expired integer not null default 0,
  failed integer not null default 0,
  uncertain integer not null default 0,
  canceled integer not null default 0,
  complained integer not null default 0,
  unsubscribed integer not null default 0,
  opened_people integer not null default 0,
  opened_people_unique integer not null default 0,
  opened_machines integer not null default 0,
  opened_machines_unique integer not null default 0,
  clicked_people integer not null default 0,
  clicked_people_unique integer not null default 0,
  clicked_machines integer not null default 0,
  clicked_machines_unique integer not null default 0,
  primary key (account_id, quarter, template_id, tag, sender_domain)
);

create table report_destination (
  like report_total including defaults,
  destination_domain text not null
);
alter table report_destination
  drop column template_id, drop column tag, drop column sender_domain,
  add primary key (account_id, quarter, destination_domain),
  add foreign key (account_id) references account on delete cascade;

-- How many messages took about so long to be delivered: step n is 2^(n/8) milliseconds.
create table report_latency (
  account_id text not null references account on delete cascade,
  quarter timestamptz not null,
  template_id text not null,
  step smallint not null,
  count integer not null,
  primary key (account_id, quarter, template_id, step)
);

-- What people look for messages by, one row for each recipient. address is the only personal data.
create table message_search (
  account_id text not null,
  message_id uuid not null,
  retention_days smallint not null,
  recipient smallint not null,
  address text,
  state text not null,
  template_id text not null,
  tag text,
  external_id text,
  primary key (account_id, message_id, recipient, retention_days)
) partition by list (retention_days);
create index message_search_address on message_search (account_id, address, message_id);
create index message_search_template on message_search (account_id, template_id, message_id);
create index message_search_state on message_search (account_id, state, message_id);
create index message_search_external on message_search (account_id, external_id, message_id) where external_id is not null;
create index message_search_tag on message_search (account_id, tag, message_id) where tag is not null;
create table message_search_30 partition of message_search for values in (30) partition by range (message_id);
create table message_search_90 partition of message_search for values in (90) partition by range (message_id);
create table message_search_400 partition of message_search for values in (400) partition by range (message_id);
create table message_search_30_rest partition of message_search_30 default;
create table message_search_90_rest partition of message_search_90 default;
create table message_search_400_rest partition of message_search_400 default;
