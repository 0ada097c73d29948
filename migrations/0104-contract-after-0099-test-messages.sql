-- Test messages have the retention class of 7 days, which no account has. Releases that don't know it would send them to the
-- internet and count them, so no message can have it while such a process runs. An account has few of them, and its oldest go
-- first, so they need no weekly partitions.
do $$
declare
  name text;
begin
  foreach name in array '{message,message_event,message_search,message_attribute,message_attachment}'::text[] loop
    execute format('create table %1$s_7 partition of %1$s for values in (7) partition by range (%2$s)',
      name, case name when 'message' then 'id' else 'message_id' end);
    execute format('create table %1$s_7_rest partition of %1$s_7 default
      with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05)', name);
    execute format('create table %1$s_scheduled_test partition of %1$s for values in (10007)
      with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05)', name);
  end loop;
  -- Like the other partitions: rows are found by key, so coarse statistics are enough.
  foreach name in array '{message_7_rest,message_scheduled_test}'::text[] loop
    execute (
      select format('alter table %s %s', name,
        string_agg(format('alter column %I set statistics 10', attname), ', '))
      from pg_attribute where attrelid = name::regclass and attnum > 0 and not attisdropped);
  end loop;
end $$;
