-- Counts leases in a row that expired with their process, and marks the attempt that its process makes alone: a message that ends
-- processes is found without holding those that were only being sent at the same time.
alter table queue_entry
  add column orphaned smallint not null default 0,
  add column alone boolean not null default false,
  alter column orphaned set statistics 10,
  alter column alone set statistics 10;

-- Windows of a follower that its process began in a row and never ended.
alter table feed_cursor add column begun smallint not null default 0;
