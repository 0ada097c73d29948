-- Finds messages by attribute. Written by the follower of search, only for messages that have attributes. A hash of
-- `name=value` keeps the rows small; values are personal data and stay in message.content.
create table message_attribute (
  account_id text not null,
  hash bytea not null,
  message_id uuid not null,
  retention_days smallint not null,
  primary key (account_id, hash, message_id, retention_days)
) partition by list (retention_days);
create index message_attribute_message on message_attribute (account_id, message_id);
create table message_attribute_30 partition of message_attribute for values in (30) partition by range (message_id);
create table message_attribute_90 partition of message_attribute for values in (90) partition by range (message_id);
create table message_attribute_400 partition of message_attribute for values in (400) partition by range (message_id);
create table message_attribute_30_rest partition of message_attribute_30 default;
create table message_attribute_90_rest partition of message_attribute_90 default;
create table message_attribute_400_rest partition of message_attribute_400 default;

-- Gets a blind copy of the account's mail, except of templates with secret fields.
alter table account add archive_address text;
