-- False where the process that accepted a message had noted another with the same template and names of values shortly before:
-- then nobody has to read its content to learn how the template is called.
alter table message add column new_call boolean not null default true;
