create index concurrently account_tag on account (substr(sha256(id::bytea), 1, 6));
