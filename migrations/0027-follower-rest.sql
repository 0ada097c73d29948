-- When a follower's last window that held less than it takes at once was done: however many processes there are, they take
-- what comes in half a second together. Null: it goes on at once.
alter table feed_cursor add column rested_from timestamptz;
