create table if not exists {table} (
  id bigint unsigned primary key auto_increment,
  -- The ID of a published template.
  template varchar(64) not null,
  to_address varchar(254) not null,
  -- The values of the template's fields.
  data json not null default (json_object()) check (json_type(data) = 'OBJECT'),
  -- Further members of a send's body: envelope, content, metadata, actions.
  options json not null default (json_object()) check (json_type(options) = 'OBJECT'),
  -- When to send; null: at once.
--[own
  send_at timestamp(6) null,
  -- Written by Signalpost: null is waiting, then accepted or failed.
  status varchar(8),
  message_id char(36),
  error json,
  processed_at timestamp(6) null,
  key waiting (status, id){checks}
);

-- A failed row that is corrected is sent.
create trigger if not exists `{bare}_retry` before update on {table} for each row
  set new.error = if(old.status = 'failed' and new.status = 'failed' and not (row(old.template, old.to_address, old.data, old.options, old.send_at) <=> row(new.template, new.to_address, new.data, new.options, new.send_at)), null, new.error),
    new.status = if(old.status = 'failed' and new.status = 'failed' and not (row(old.template, old.to_address, old.data, old.options, old.send_at) <=> row(new.template, new.to_address, new.data, new.options, new.send_at)), null, new.status);
--]
--[apart
  send_at timestamp(6) null{checks}
);

create table if not exists {answers} (
  id bigint unsigned primary key,
  status varchar(8),
  message_id char(36),
  error json,
  processed_at timestamp(6) null,
  key waiting (status, id)
);
--]
