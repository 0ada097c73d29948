-- Messages over one connection with a destination: what was learnt where a receiver takes fewer than its profile says, when,
-- and what it said; and what people decide instead.

alter table destination add column session_messages integer check (session_messages > 0);
alter table destination add column session_at timestamptz;
alter table destination add column session_reason text;
alter table destination add column override_session_messages integer check (override_session_messages > 0);
