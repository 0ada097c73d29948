import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId } from '../foundation/ids.ts';
import { hasNoCc, toDomain } from '../message/message-sql.ts';
import { priorities } from './priorities.ts';
import { runQueueStatement } from './queue-statement-store.ts';

/** Due messages of one kind that need not be looked at one by one, since they would all be put off. */
export interface Backlog {
  readonly accountId: AccountId;
  /** Domain of To, in lower-case A-labels. */
  readonly domain: string;
  readonly transactional: boolean;
  /** Milliseconds from now until the first of them is due again, and from each to the next. */
  readonly after: number;
  readonly spacing: number;
  /** Milliseconds from now: who would come later gets a random time in the second half before it. */
  readonly until: number;
  /** For people; `nextPlace` in it becomes each message's own time. */
  readonly reason: string;
}

/** Stands for the next time in a crowd's reason. */
export const nextTimePlaceholder = '%next%';

/** Due messages that one statement looks at, so that no lock lasts long. */
const chunkSize = 5_000;

/** Puts due messages off without claiming each of them. */
export class DeferStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Gives the messages of a crowd that are due and not claimed their next times, in the order in which they are due. Those
   * with Cc stay, since their other recipients may be had now. Not flushed: what a crash undoes is put off again.
   * @returns how many were put off, and whether every due message was looked at
   */
  async defer(backlog: Backlog): Promise<{ readonly all: boolean; readonly changed: number }> {
    const { rows } = await runQueueStatement<{ seen: number; changed: number }>(this.#database, {
      name: 'queue-put-off',
      text: deferStatement,
      values: [
        backlog.accountId,
        backlog.transactional ? priorities.transactional : priorities.other,
        backlog.domain,
        backlog.after,
        backlog.spacing,
        backlog.until,
        backlog.reason.toWellFormed().replaceAll('\0', '').slice(0, 1_000),
      ],
    });
    const { seen = 0, changed = 0 } = rows[0] ?? {};
    return { all: seen < chunkSize, changed };
  }
}

// As in a claim, the lateral limit keeps the planner at one index look-up per message, in the partition of retention_days.
const deferStatement = `
  with moment as materialized (
    select now() as now
    where set_config('synchronous_commit', 'off', true) is not null),
  due as materialized (
    select q.message_id, q.retention_days, q.due_at from queue_entry q
    where q.account_id = $1 and q.priority = $2 and q.due_at <= (select now from moment)
    order by q.due_at limit ${chunkSize}),
  alike as materialized (
    select due.message_id, row_number() over (order by due.due_at) as place
    from due cross join lateral (
      select from message m
      where m.account_id = $1 and m.id = due.message_id and m.retention_days = due.retention_days
        and ${toDomain('m')} = $3 and ${hasNoCc('m')}
      limit 1) m),
  free as materialized (
    select q.message_id, alike.place from queue_entry q join alike using (message_id) cross join moment
    where q.account_id = $1 and q.lease_owner is null and not q.paused and not q.canceled
      and q.pending = '{0}' and q.expires_at > moment.now
    for update of q skip locked),
  timed as materialized (
    select message_id, case
      when $4::float8 + place * $5::float8 <= $6::float8 then $4::float8 + place * $5::float8
      else greatest($4::float8, $6::float8 * (0.5 + random() / 2)) end as wait
    from free),
  changed as (
    update queue_entry q
    set due_at = least(q.expires_at, moment.now + timed.wait * interval '1 ms'),
      reason = replace($7, '${nextTimePlaceholder}',
        to_char((moment.now + timed.wait * interval '1 ms') at time zone 'utc',
          case when timed.wait < 60000 then 'HH24:MI:SS' else 'HH24:MI' end))
    from timed, moment
    where q.account_id = $1 and q.message_id = timed.message_id and q.lease_owner is null
    returning 1)
  select (select count(*) from due)::int as seen, (select count(*) from changed)::int as changed`;
