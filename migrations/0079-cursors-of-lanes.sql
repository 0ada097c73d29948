-- A follower's position is one row for all accounts, or several rows for lanes of accounts. The bits of its lanes end the name of
-- a row that has only some ("report/240"): a release that knows only whole positions finds none, and leaves it alone.
alter table feed_cursor
  add column follower text not null generated always as (split_part(name, '/', 1)) stored,
  add column lanes smallint not null generated always as (coalesce(nullif(split_part(name, '/', 2), ''), '255')::smallint) stored;
