-- Filters of the message log that a person has saved, each under a name of its own.
create table saved_filter (
  account_id text not null,
  person_id uuid not null,
  name text not null,
  query jsonb not null,
  primary key (account_id, person_id, name),
  foreign key (account_id, person_id) references membership (account_id, person_id) on delete cascade
);
