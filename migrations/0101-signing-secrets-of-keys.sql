-- The secret with which a key signs requests instead of sending itself, sealed with the master key; null for keys that can't.
alter table api_key add column signing_secret bytea;
