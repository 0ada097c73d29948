create index concurrently inbox_message_account on inbox_message (account_id, received_at desc, id desc);
