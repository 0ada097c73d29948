-- How many messages an account may have accepted in an hour and in a day; null: as many as it likes.
alter table account
  add column quota_per_hour integer check (quota_per_hour >= 0),
  add column quota_per_day integer check (quota_per_day >= 0);

-- What an account with a quota has used of the hour and of the day that it was last asked about. Processes take shares
-- of many messages at once, so that the row is written a few times a second at most, and give back what they do not use.
create table account_quota_use (
  account_id text primary key references account on delete cascade,
  hour_at timestamptz not null,
  hour_used integer not null,
  day_at timestamptz not null,
  day_used integer not null,
  -- Of the last share.
  granted integer not null
) with (fillfactor = 50);
