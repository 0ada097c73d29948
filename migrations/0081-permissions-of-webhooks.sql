-- An endpoint gets only what the caller who saved it last could read. Those of earlier releases keep what they get.
alter table webhook_endpoint add column permissions text[] not null default '{messages:read}';
