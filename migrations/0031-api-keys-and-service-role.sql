-- A user for programs: sends and reads the status of messages, and opens nothing in the console.
alter table membership drop constraint membership_role_check;
alter table membership add constraint membership_role_check
  check (role in ('owner', 'developer', 'marketer', 'viewer', 'service'));

alter table api_key
  -- The characters of the key that people recognize it by; null for keys of the earlier form.
  add column hint text,
  -- Where requests with it may come from; null: anywhere.
  add column networks cidr[],
  -- What it may send with; null: every template of the account.
  add column templates text[];

create index api_key_created_by on api_key (created_by);

-- Keys don't outlive the trust in the person who made them, by whichever way that trust ends: API, manifest, command line
-- or SQL. Who takes keys over does so before, in the same transaction.
create function end_api_keys_of_member() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and (new.role = old.role or new.role = 'owner'
    or (new.role = 'developer' and old.role <> 'owner')) then
    return null;
  end if;
  delete from api_key where account_id = old.account_id and created_by = old.person_id;
  if found then
    perform pg_notify('signalpost_change', 'api_key:' || old.account_id);
  end if;
  return null;
end $$;

create trigger end_api_keys after update of role or delete on membership
  for each row execute function end_api_keys_of_member();

create function end_api_keys_of_person() returns trigger language plpgsql as $$
declare
  ended text;
begin
  for ended in
    delete from api_key where created_by = new.id returning account_id
  loop
    perform pg_notify('signalpost_change', 'api_key:' || ended);
  end loop;
  return null;
end $$;

create trigger end_api_keys after update of disabled_at on person
  for each row when (new.disabled_at is not null and old.disabled_at is null)
  execute function end_api_keys_of_person();
