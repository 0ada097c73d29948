-- The last migration that the release of a running process has.
alter table key_node add latest_migration integer;
