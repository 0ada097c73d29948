-- A field that was secret in a published version stays secret in all of them, until an owner says otherwise.
create table template_secret (
  account_id text not null,
  template_id text not null,
  name text not null,
  primary key (account_id, template_id, name),
  foreign key (account_id, template_id) references template on delete cascade
);
create function keep_secret_fields() returns trigger language plpgsql as $$
begin
  insert into template_secret (account_id, template_id, name)
  select new.account_id, new.template_id, field.key
  from jsonb_each(new.source -> 'fields') as field where field.value ->> 'secret' = 'true'
  on conflict do nothing;
  return null;
end $$;
-- A trigger, because processes of 0.2 publish too.
create trigger template_version_secrets after insert on template_version
for each row when (not new.trial) execute function keep_secret_fields();
insert into template_secret (account_id, template_id, name)
select distinct v.account_id, v.template_id, field.key
from template_version v cross join lateral jsonb_each(v.source -> 'fields') as field
where not v.trial and field.value ->> 'secret' = 'true'
on conflict do nothing;
