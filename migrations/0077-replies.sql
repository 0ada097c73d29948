-- Replies to messages that receive them. The contents of their parts are in attachment_content, linked to the message by
-- message_attachment, so they end with it. A reply's ID is also that of its event.
create table message_reply (
  account_id text not null references account on delete cascade,
  id uuid not null,
  message_id uuid not null,
  retention_days smallint not null,
  received_at timestamptz not null default now(),
  -- The same for every repetition of one mail.
  fingerprint bytea not null,
  -- Bytes of the whole mail.
  size integer not null,
  automatic boolean not null,
  -- The address it is from, in lower case; null once erased.
  sender text,
  -- Null once erased.
  content json,
  -- Of its parts; empty once erased.
  hashes bytea[] not null,
  primary key (account_id, id)
);
create unique index message_reply_message on message_reply (account_id, message_id, fingerprint);
create index message_reply_sender on message_reply (account_id, sender) where sender is not null;
create index message_reply_erasable on message_reply (account_id, message_id) where content is not null or sender is not null;
create index message_reply_age on message_reply (retention_days, message_id);
