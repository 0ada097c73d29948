-- A test message of a draft is made from a version too, which nobody published and nobody looks for.
alter table template_version add column trial boolean not null default false;
