-- Positions of the logs and of the way out to NATS of 0.2.
drop table log_cursor;

-- What the log of audit events was read by.
drop index audit_event_tx;
alter table audit_event drop column tx;
