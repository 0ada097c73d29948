-- A session ends some time after it was last used, and a person recognizes theirs by when and from where that was.
alter table browser_session add last_used_at timestamptz not null default now();
alter table browser_session add last_address text;
update browser_session set last_used_at = created_at;
