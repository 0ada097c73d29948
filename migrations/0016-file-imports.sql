-- Suppressions are imported with progress as contacts are; these imports have no list.
alter table contact_import rename to file_import;
alter table file_import drop constraint contact_import_pkey;
alter table file_import alter column list_id drop not null;
alter table file_import add constraint file_import_key unique nulls not distinct (account_id, list_id, id);
alter table file_import add foreign key (account_id) references account on delete cascade;
