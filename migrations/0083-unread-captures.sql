-- Messages whose parts no code can read: they are stored with their header and source.
alter table inbox_message add column unread boolean not null default false;
