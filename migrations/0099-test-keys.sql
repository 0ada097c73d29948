-- What an API key sends: live messages, or test messages, which go to its account's inbox only.
alter table api_key add column mode text not null default 'live';
alter table api_key add constraint api_key_mode_check check (mode in ('live', 'test')) not valid;

-- True for a copy of a test message. It is kept for a week, also where mail isn't captured otherwise.
alter table inbox_message add column test boolean not null default false;
