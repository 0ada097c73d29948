-- What was used of a budget, until it no longer counts. The key is a hash of what is counted, so that removing and adding a thing
-- again doesn't reset it.
create table budget_use (
  id uuid not null default gen_random_uuid() primary key,
  key bytea not null,
  amount integer not null,
  expires_at timestamptz not null
);
create index budget_use_key on budget_use (key, expires_at);
create index budget_use_expires on budget_use (expires_at);

-- The account that a mail is about, and the notice that it is sent with.
alter table system_mail add column account_id text;
alter table system_mail add column sent_with uuid;

-- A link to a sender outlives it, so that removing and adding the sender again allows no further mail.
alter table sender_proof drop constraint sender_proof_account_id_address_fkey;
alter table sender_proof add constraint sender_proof_account_id_fkey
  foreign key (account_id) references account (id) on delete cascade not valid;

-- The last link for now stays valid for longer, so its end doesn't say when it was sent.
alter table password_reset add column created_at timestamptz not null default now();
