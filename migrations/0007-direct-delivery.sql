-- Delivery straight to recipients' servers: policies of domains, the pace of destinations, counts for TLS reporting.
-- None of it belongs to an account: what receivers say holds for everyone who sends from here.

-- MTA-STS policies (RFC 8461) as they were fetched.
create table sts_policy (
  domain text primary key,
  record_id text not null,
  mode text not null check (mode in ('enforce', 'testing', 'none')),
  mx text[] not null,
  max_age integer not null,
  fetched_at timestamptz not null
);

-- The learnt pace of a destination, for all nodes together; rates are messages per second. Written when something is
-- learnt, at most about once a second; version tells writers whether they knew the newest.
create table destination (
  name text primary key,
  label text not null,
  rate float8 not null,
  good float8 not null,
  bad float8,
  connections integer not null,
  changed_at timestamptz not null default now(),
  connections_at timestamptz not null default now(),
  slowed_at timestamptz,
  slowed_reason text,
  blocked_until timestamptz,
  override_rate float8 check (override_rate > 0),
  override_connections integer check (override_connections > 0),
  version bigint not null default 0
);

-- What each node wants from a destination and really sends, per second; nodes divide the pace by it.
create table destination_node (
  name text not null,
  node uuid not null,
  demand float8 not null,
  sent float8 not null,
  seen_at timestamptz not null,
  primary key (name, node)
) with (fillfactor = 70);
create index destination_node_seen on destination_node (seen_at);

-- Sessions by how TLS ended (RFC 8460 section 4.3), counted by each node for itself.
create table tls_result (
  day date not null,
  domain text not null,
  node uuid not null,
  policy_type text not null check (policy_type in ('sts', 'no-policy-found')),
  type text not null,
  host text not null,
  sessions bigint not null,
  primary key (day, domain, node, policy_type, type, host)
);
