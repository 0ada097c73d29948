-- Sources of other dialects, answers in a second table, and rows that are deleted once accepted.
alter table outbox_source
  add column dialect text not null default 'postgres',
  add column answers_table text,
  -- What happens to an accepted row: keep or delete.
  add column after_accept text not null default 'keep',
  -- How far its reader is: an object of the service's `SourceState`.
  add column state jsonb not null default '{}',
  -- Failed rows to send again, by id; empty: all of them.
  add column retry_ids text[];
