-- A field that was secret in a published version stays secret in all of them, until an owner reveals it.
create table template_secret (
  account_id text not null,
  template_id text not null,
  name text not null,
  revealed_at timestamptz,
  primary key (account_id, template_id, name),
  foreign key (account_id, template_id) references template on delete cascade
);
create function keep_secret_fields() returns trigger language plpgsql as $$
begin
  insert into template_secret as kept (account_id, template_id, name)
  select v.account_id, v.template_id, field.key
  from template_version v cross join lateral jsonb_each(v.source -> 'fields') as field
  where v.account_id = new.account_id and v.template_id = new.id and v.version = new.published_version
    and field.value ->> 'secret' = 'true'
  on conflict (account_id, template_id, name) do update set revealed_at = null where kept.revealed_at is not null;
  return null;
end $$;
-- A trigger, because processes of 0.2 publish too. A move copies rows and updates none, so it doesn't fire there.
create trigger template_secrets after update of published_version on template
for each row when (new.published_version is not null) execute function keep_secret_fields();
insert into template_secret (account_id, template_id, name)
select distinct v.account_id, v.template_id, field.key
from template_version v cross join lateral jsonb_each(v.source -> 'fields') as field
where not v.trial and field.value ->> 'secret' = 'true'
on conflict do nothing;
