-- Every search plans and opens all partitions that it cannot rule out, so empty ones of retention classes that no account
-- has are not kept.
do $$
declare
  partition record;
  filled boolean;
begin
  for partition in
    select c.relname as name
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    join pg_class p on p.oid = i.inhparent
    where p.relname ~ '^message(_event|_search)?_(30|400)$' and c.relname ~ '_[0-9]{8}$'
      and not exists (select from account where retention_days = substring(p.relname from '[0-9]+$')::smallint)
  loop
    execute format('select exists (select from %I)', partition.name) into filled;
    if not filled then
      execute format('drop table %I', partition.name);
    end if;
  end loop;
end $$;
