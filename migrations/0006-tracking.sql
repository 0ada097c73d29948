-- The host under which readers reach tracked links and images of an account, in place of the installation's own address.
create table tracking_domain (
  account_id text primary key references account on delete cascade,
  host text not null,
  created_at timestamptz not null default now()
);
