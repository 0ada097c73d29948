import { sql } from 'kysely';

/**
 * Common table expressions with `bound.tx`: all transactions below it have ended. Running ones are read after the snapshot from this database's sessions, so
 * that the server's other databases don't hold it up; if other roles' sessions are hidden, the snapshot alone counts.
 *
 * PostgreSQL reads the sessions once per transaction, while each statement has a snapshot of its own: older sessions lack what
 * began since. So what it remembers is forgotten first, in the argument, which is null: all sessions.
 */
export const endedTransactions = sql`
  running as materialized (
    select backend_xid::text::numeric as xid, usesysid is not null and state is null and backend_type = 'client backend' as hidden
    from pg_stat_get_activity(nullif(pg_stat_clear_snapshot()::text, '')::integer)
    where datid = (select oid from pg_database where datname = current_database()) and pid <> pg_backend_pid()
    union all
    select transaction::text::numeric, false from pg_prepared_xacts where database = current_database()),
  newest as materialized (
    select pg_snapshot_xmax(pg_current_snapshot())::text::numeric as tx),
  bound as materialized (
    select case when exists (select from running where hidden) then pg_snapshot_xmin(pg_current_snapshot())
      -- Sessions show only the lower 32 bits of a transaction id, so take the epoch nearest to the snapshot.
      else (select least(newest.tx, min(
          newest.tx - mod(newest.tx, 4294967296) + running.xid + case
            when running.xid - mod(newest.tx, 4294967296) > 2147483648 then -4294967296
            when mod(newest.tx, 4294967296) - running.xid > 2147483648 then 4294967296 else 0 end))::text::xid8
        from newest left join running on true group by newest.tx) end as tx)`;
