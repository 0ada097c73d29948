-- Whether the provider checked several factors at the last sign-in, so that an account whose owners rely on that isn't locked.
alter table provider_identity add second_factor boolean not null default false;

update provider_identity i set second_factor = true
where exists (select from browser_session s where s.provider_identity_id = i.id and s.provider_second_factor);
