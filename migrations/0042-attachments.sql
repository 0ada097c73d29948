-- Max bytes of a message with attachments as sent; null: the installation's default, 0: none.
alter table account add column attachment_limit integer check (attachment_limit between 0 and 26214400);

-- Contents of attachments, once for each account. check_at is when the sweep looks for messages that still use one; an
-- accept that relies on a content moves it ahead.
create table attachment_content (
  account_id text not null references account on delete cascade,
  sha256 bytea not null check (octet_length(sha256) = 32),
  content bytea not null,
  check_at timestamptz not null,
  primary key (account_id, sha256)
);
-- Most attachments are compressed already.
alter table attachment_content alter column content set storage external;
create index attachment_content_check on attachment_content (check_at);

-- Which contents a message uses. Their names and types are in message.content.
create table message_attachment (
  account_id text not null,
  message_id uuid not null,
  retention_days smallint not null,
  sha256 bytea not null,
  primary key (account_id, message_id, sha256, retention_days)
) partition by list (retention_days);
create index message_attachment_content on message_attachment (account_id, sha256);
create table message_attachment_30 partition of message_attachment for values in (30) partition by range (message_id);
create table message_attachment_90 partition of message_attachment for values in (90) partition by range (message_id);
create table message_attachment_400 partition of message_attachment for values in (400) partition by range (message_id);
create table message_attachment_30_rest partition of message_attachment_30 default;
create table message_attachment_90_rest partition of message_attachment_90 default;
create table message_attachment_400_rest partition of message_attachment_400 default;
create table message_attachment_scheduled partition of message_attachment for values in (10030, 10090, 10400)
  with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
