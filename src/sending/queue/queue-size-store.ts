import type { Database } from '../../base/database/open-database.ts';

/** Up to this many entries are counted exactly. */
const maxExactCount = 10_000;

export interface QueueSize {
  /** The planner's estimate for large queues. */
  readonly entries: number;
  /** How long the oldest due one has waited. */
  readonly oldestSeconds: number;
}

/** Reads the queue size at a cost that doesn't grow with it. */
export async function readQueueSize({ pool }: Database): Promise<QueueSize> {
  const { rows } = await pool.query<{ entries: number; oldest: number }>({
    name: 'queue-size',
    text: `
        with recursive waiting (account_id, priority) as (
          (select account_id, priority from queued_delivery order by account_id, priority limit 1)
          union all
          select next.account_id, next.priority
          from waiting
          cross join lateral (
            select q.account_id, q.priority from queued_delivery q
            where (q.account_id, q.priority) > (waiting.account_id, waiting.priority)
            order by q.account_id, q.priority limit 1) next
        ),
        first as (
          select (
            select q.due_at from queued_delivery q
            where q.account_id = waiting.account_id and q.priority = waiting.priority
            order by q.due_at limit 1) as due_at
          from waiting),
        counted as (select count(*)::float8 as entries from (select from queued_delivery limit $1) few)
        select case when counted.entries < $1 then counted.entries
            else greatest(counted.entries, (select reltuples from pg_class where oid = 'queued_delivery'::regclass)) end
            as entries,
          (select coalesce(extract(epoch from now() - min(due_at)), 0)
            from first where due_at < 'infinity')::float8 as oldest
        from counted`,
    values: [maxExactCount],
  });
  const [row] = rows;
  return { entries: row?.entries ?? 0, oldestSeconds: Math.max(0, row?.oldest ?? 0) };
}
