-- Codes that stand in for a lost second factor, by their keyed hash; each goes when it is used, all with the factor.
create table recovery_code (
  person_id uuid not null references second_factor on delete cascade,
  hash bytea not null,
  primary key (person_id, hash)
);
