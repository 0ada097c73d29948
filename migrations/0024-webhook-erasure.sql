-- An attempt that was under way when a person was erased must not write down again what it had posted.
alter table webhook_delivery add erased boolean not null default false;
