-- An import that stopped continues with the same file, from the row where it was.
alter table file_import add name text;
alter table file_import add sha256 bytea;
-- The process that may write its progress; another one takes over when it continues.
alter table file_import add run_id uuid;
alter table file_import add columns text[];
alter table file_import add rejected_size integer not null default 0;
alter table file_import add rejected_kept integer not null default 0;
alter table file_import drop constraint contact_import_state_check;
alter table file_import add constraint file_import_state_check check (state in ('running', 'done', 'failed', 'stopped'));

-- The first rejected rows of an import, for download.
create table file_import_rejection (
  account_id text not null references account on delete cascade,
  list_id text,
  import_id uuid not null,
  row integer not null,
  line integer not null,
  reason text not null,
  record text[] not null,
  created_at timestamptz not null default now(),
  unique nulls not distinct (account_id, list_id, import_id, row),
  foreign key (account_id, list_id) references contact_list (account_id, id) on delete cascade
);
create index file_import_rejection_age on file_import_rejection (created_at);
