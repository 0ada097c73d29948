-- While the master key is being rotated, what was made with the key before is still accepted.
alter table installation
  add column key_previous_fingerprint text,
  add column key_switched_at timestamptz,
  add column key_followed_at timestamptz;

-- Running processes, with the keys that they know and the one that they make things with.
create table key_node (
  node uuid primary key,
  name text not null,
  known text[] not null,
  current text not null,
  seen_at timestamptz not null default now()
);

-- Keyed hashes that were made with the key before and can't be computed anew until their secret is used.
create table key_leftover (
  hash bytea primary key
);
