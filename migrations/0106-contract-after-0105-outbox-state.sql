-- `state` has what these had.
alter table outbox_source
  drop column read_at,
  drop column drained_at,
  drop column failing_since,
  drop column failure,
  drop column failure_detail;
