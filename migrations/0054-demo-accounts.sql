-- Marks the account whose messages `demo fill` made up, so that `demo clear` can never remove a real one.
alter table account add column demo boolean not null default false;
