-- The account that sent a captured message, `.system` for the service's own mail; null if that is unknown, as of mail that
-- earlier releases captured. Only the inbox of the installation has those.
alter table inbox_message add column account_id text;
