import type { Database } from '../foundation/database/open-database.ts';
import { isRetryable } from '../foundation/database/sqlstate.ts';
import { withValues } from '../message/message-sql.ts';
import {
  eventRow,
  eventRows,
  insertEvents,
  sinceTime,
  timeBefore,
} from '../message/write-events.ts';
import { holdAfter, suspectAfter } from './attempt.ts';
import { runQueueStatement } from './queue-statement-store.ts';
import { recordRelayIds } from './relay-id-store.ts';
import type { Completion } from './settle-attempt.ts';

/** Writes the outcomes of attempts. */
export class CompleteStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Writes outcomes in one statement: removes or reschedules queue entries, updates message states and adds events. A
   * completion with a stale fence changes nothing.
   * @returns whether each was written
   */
  async complete(completions: readonly Completion[]): Promise<boolean[]> {
    await recordRelayIds(this.#database, completions);
    const run = () =>
      runQueueStatement<{ place: number }>(this.#database, {
        name: 'queue-complete',
        text: completeStatement,
        values: [
          JSON.stringify(completions.map(itemOf)),
          `[${completions.flatMap(eventsOf).join(',')}]`,
        ],
      });
    const { rows } = await run().catch((error: unknown) => {
      if (isRetryable(error)) return run();
      throw error;
    });
    const written = completions.map(() => false);
    for (const { place } of rows) written[place] = true;
    return written;
  }
}

const completeStatement = `
  with moment as materialized (select now() as now),
  item as materialized (
    select * from json_to_recordset($1::json) as x (place int, account_id text, message_id uuid, owner uuid, fence bigint,
      canceled boolean, done boolean, released boolean, state text, state_ago float8, due_in float8, pending smallint[], held smallint[], reason text,
      erased jsonb)),
  gone as (
    delete from queue_entry q using item
    where item.done and q.account_id = item.account_id and q.message_id = item.message_id
      and q.fence = item.fence and q.lease_owner = item.owner
    returning item.place, q.account_id, q.message_id, q.retention_days),
  kept as (
    update queue_entry q
    set lease_owner = null, stage = null, in_transaction = null,
      doubtful = case when item.released then q.doubtful end,
      -- Drops recipients that were erased meanwhile. If the message was canceled meanwhile, none are held.
      pending = array(
        select r from unnest(case when q.canceled and not item.canceled then item.pending || item.held else item.pending end) as r
        where r = any (q.pending || q.held)),
      held = array(
        select r from unnest(item.held) as r
        where r = any (q.pending || q.held) and (item.canceled or not q.canceled)),
      reason = case when q.paused then q.reason else item.reason end,
      attempts = q.attempts - case when item.released then 1 else 0 end,
      -- One that is held for them is still suspect when it is retried.
      orphaned = case when item.released or q.orphaned >= ${holdAfter} then least(q.orphaned, ${suspectAfter}) else 0 end,
      due_at = case
        when q.canceled and not item.canceled or not (item.pending || item.held) && (q.pending || q.held) then moment.now
        when q.paused then 'infinity'
        else coalesce(moment.now + item.due_in * interval '1 ms', 'infinity') end
    from item, moment
    where not item.done and q.account_id = item.account_id and q.message_id = item.message_id
      and q.fence = item.fence and q.lease_owner = item.owner
    returning item.place, q.account_id, q.message_id, q.retention_days),
  written as (select * from gone union all select * from kept),
  stated as (
    update message m
    set state = coalesce(item.state, m.state),
      state_at = case when item.state is null then m.state_at else ${timeBefore('moment.now', 'item.state_ago')} end,
      -- Uses the current content, because a recipient may have been erased since the claim.
      content = case when item.erased is null or m.content is null then m.content
        else ${withValues('m', 'item.erased')} end
    from written join item using (place), moment
    where (item.state is not null or item.erased is not null)
      and m.account_id = written.account_id and m.id = written.message_id
      and m.retention_days = written.retention_days),
  recorded as (
    ${insertEvents({
      accountId: 'written.account_id',
      messageId: 'written.message_id',
      retentionDays: 'written.retention_days',
      id: 'event.id',
      at: timeBefore('moment.now', 'event.ago'),
      kind: { from: 'event.kind' },
      recipient: 'event.recipient',
      detail: 'event.detail',
    })}
    from ${eventRows('$2')}
    join written using (place) cross join moment
    on conflict do nothing)
  select place from written`;

function itemOf(completion: Completion, place: number): Record<string, unknown> {
  const { message } = completion;
  return {
    place,
    account_id: message.accountId,
    message_id: message.messageId,
    owner: message.owner,
    fence: message.fence,
    canceled: message.canceled,
    done: completion.done,
    released: completion.released,
    state: completion.state ?? null,
    state_ago: sinceTime(completion.stateSince),
    due_in: completion.dueIn ?? null,
    pending: completion.pending,
    held: completion.held,
    reason:
      completion.reason === null
        ? null
        : completion.reason.slice(0, 1_000).toWellFormed().replaceAll('\0', ''),
    erased: completion.erased && Object.fromEntries(completion.erased.map((name) => [name, null])),
  };
}

function eventsOf(completion: Completion, place: number): string[] {
  return completion.events.map((event) => eventRow(event, place));
}
