-- Domains that accounts send from: their DNS records, keys, and how far they are set up.

create table sending_domain (
  account_id text not null references account on delete cascade,
  domain text not null,
  state text not null default 'pending' check (state in ('pending', 'verified', 'broken')),
  state_at timestamptz not null default now(),
  -- Checks in a row that found a required record wrong.
  bad_checks integer not null default 0,
  return_path text not null,
  tracking_host text,
  source_pool text not null default 'default',
  -- Most messages of each day, from warm_up_from on; past its end there is no limit.
  warm_up_from date,
  warm_up_plan integer[],
  checked_at timestamptz,
  next_check_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  primary key (account_id, domain)
);
create index sending_domain_next_check on sending_domain (next_check_at);

-- private_key is encrypted. A pending key waits for its record; a retired one signs no more, but what it signed may
-- still be on its way.
create table dkim_key (
  account_id text not null,
  domain text not null,
  selector text not null,
  algorithm text not null check (algorithm in ('rsa-sha256', 'ed25519-sha256')),
  private_key bytea not null,
  record text not null,
  state text not null default 'pending' check (state in ('pending', 'active', 'retired')),
  state_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  primary key (account_id, domain, selector),
  foreign key (account_id, domain) references sending_domain on delete cascade
);

-- What the last check of each record found.
create table domain_finding (
  account_id text not null,
  domain text not null,
  kind text not null check (kind in ('dkim', 'spf', 'return-path', 'from-spf', 'dmarc', 'tracking')),
  name text not null,
  type text not null,
  expected text not null,
  required boolean not null,
  state text not null check (state in ('ok', 'missing', 'wrong', 'unknown')),
  found text[] not null,
  explanation text not null,
  resolver text not null,
  checked_at timestamptz not null default now(),
  primary key (account_id, domain, kind, name),
  foreign key (account_id, domain) references sending_domain on delete cascade
);

-- Plans of source addresses of this installation, as for domains.
create table source_warm_up (
  address text primary key,
  warm_up_from date not null,
  warm_up_plan integer[] not null
);

-- Messages of a day, counted by each node for itself; subject is `domain:ACCOUNT/DOMAIN` or `source:ADDRESS`.
create table warm_up_use (
  subject text not null,
  day date not null,
  node uuid not null,
  used bigint not null,
  primary key (subject, day, node)
);

-- A mailed link that proves a sender address, by the hash of its token.
create table sender_proof (
  account_id text not null,
  address text not null,
  hash bytea not null unique,
  expires_at timestamptz not null,
  primary key (account_id, address),
  foreign key (account_id, address) references sender on delete cascade
);

-- How a sender was verified; null by setting it up so.
alter table sender add verified_by text check (verified_by in ('domain', 'link'));
