import type { Database } from '../../base/database/open-database.ts';
import { isRetryable } from '../../base/database/sqlstate.ts';
import { withValues } from '../../content/message/message-sql.ts';
import {
  eventRow,
  eventRows,
  insertEventRows,
  sinceTime,
  timeBefore,
} from '../../content/message/write-events.ts';
import { type ClaimedMessage, holdAfter, suspectAfter } from './attempt.ts';
import { type QueueStatement, runQueueStatement } from './queue-statement-store.ts';
import type { AttemptProgress, Completion, RecordedEvents } from './settle-attempt.ts';

/** Updates and ends leases held by this process. Each write checks owner and fence, so a lost lease changes nothing. */
export class LeaseStore {
  readonly #database: Database;
  readonly #leaseMs: number;

  constructor(database: Database, leaseMs: number) {
    this.#database = database;
    this.#leaseMs = leaseMs;
  }

  /**
   * Sets each message to stage `dot` in one flushed statement. Touches no indexed column, which avoids table bloat;
   * lease times don't change.
   * @returns whether each lease is still held; only then may the final dot be sent
   */
  async markDots(messages: readonly ClaimedMessage[]): Promise<boolean[]> {
    return this.#write('queue-mark-dots', "stage = 'dot'", messages);
  }

  /**
   * Records the finished transactions of an attempt and the next one's recipients in one flushed statement.
   * @returns the recipients that are left, without those that were erased meanwhile; undefined if the lease is no longer held and
   *   nothing was written
   */
  async advance(advance: AttemptProgress): Promise<readonly number[] | undefined> {
    const { message } = advance;
    await this.#recordRelayIds([advance]);
    const { rows } = await runQueueStatement<{ pending: number[] }>(this.#database, {
      name: 'queue-advance',
      text: advanceStatement,
      values: [
        message.accountId,
        message.messageId,
        message.owner,
        message.fence,
        advance.pending,
        advance.next,
        advance.state ?? null,
        `[${advance.events.map((event) => eventRow(event)).join(',')}]`,
        advance.doubtful,
      ],
    });
    return rows[0]?.pending;
  }

  /**
   * Writes outcomes in one statement: removes or reschedules queue entries, updates message states and adds events.
   * @returns whether each was written
   */
  async complete(completions: readonly Completion[]): Promise<boolean[]> {
    await this.#recordRelayIds(completions);
    const events = completions.flatMap((completion, place) =>
      completion.events.map((event) => eventRow(event, place)),
    );
    return this.#run(completions, {
      name: 'queue-complete',
      text: completeStatement,
      values: [JSON.stringify(completions.map(itemOf)), `[${events.join(',')}]`],
    });
  }

  /** Records whether a message is sent alone by its process. @returns whether the lease is still held */
  async setAlone(message: ClaimedMessage, alone: boolean): Promise<boolean> {
    const [held = false] = await this.#write(`queue-alone-${alone}`, `alone = ${alone}`, [message]);
    return held;
  }

  /** Renews leases. @returns whether each is still held */
  async renew(messages: readonly ClaimedMessage[]): Promise<boolean[]> {
    const startedAt = performance.now();
    const extension = "due_at = now() + $1::float8 * interval '1 ms'";
    const stillHeld = await this.#write('queue-renew', extension, messages);
    messages.forEach((message, place) => {
      if (stillHeld[place] === true) message.leaseEndsAt = startedAt + this.#leaseMs;
    });
    return stillHeld;
  }

  #write(name: string, change: string, messages: readonly ClaimedMessage[]): Promise<boolean[]> {
    // Sub-selects hide the arrays, and a sum hides `due_at`, so the planner uses one generic plan. Otherwise it scans
    // the due-time index for leased entries, which it estimates at none.
    return this.#run(messages, {
      name,
      text: `
        update queue_entry q
        set ${change}
        from unnest((select $2::uuid[]), (select $3::text[]), (select $4::uuid[]), (select $5::bigint[])) with ordinality
          as held (owner, account_id, message_id, fence, place)
        where q.account_id = held.account_id and q.message_id = held.message_id
          and q.fence = held.fence and q.lease_owner = held.owner
          and q.due_at + interval '0' > now() and $1::float8 is not null
        returning held.place::int - 1 as place`,
      values: [
        this.#leaseMs,
        messages.map((message) => message.owner),
        messages.map((message) => message.accountId),
        messages.map((message) => message.messageId),
        messages.map((message) => message.fence),
      ],
    });
  }

  /** Runs a statement that returns the index of each item it wrote, again if its transaction failed by chance. */
  async #run(items: readonly unknown[], statement: QueueStatement): Promise<boolean[]> {
    const run = () => runQueueStatement<{ place: number }>(this.#database, statement);
    const { rows } = await run().catch((error: unknown) => {
      if (isRetryable(error)) return run();
      throw error;
    });
    const written = items.map(() => false);
    for (const { place } of rows) written[place] = true;
    return written;
  }

  /**
   * Records the IDs that a relay gave deliveries, before their outcomes, so that no report comes for an ID that isn't stored
   * yet. Writing one again changes nothing.
   */
  async #recordRelayIds(recorded: readonly RecordedEvents[]): Promise<void> {
    const given = new Map<string, readonly [string, string, string]>();
    for (const { message, events } of recorded)
      for (const { relayId } of events)
        if (relayId !== undefined)
          given.set(`${message.accountId} ${relayId}`, [
            message.accountId,
            relayId,
            message.messageId,
          ]);
    if (given.size === 0) return;
    // In key order, so that concurrent writers can't deadlock.
    const rows = [...given].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
    await runQueueStatement(this.#database, {
      name: 'queue-relay-ids',
      text: `insert into relay_delivery (account_id, relay_id, message_id)
        select * from unnest($1::text[], $2::text[], $3::uuid[]) on conflict do nothing`,
      values: [
        rows.map(([account]) => account),
        rows.map(([, id]) => id),
        rows.map(([, , id]) => id),
      ],
    });
  }
}

const advanceStatement = `
  with moment as materialized (select now() as now),
  kept as (
    update queue_entry q
    set stage = 'claimed', in_transaction = $6::smallint[],
      doubtful = nullif($9::smallint[], '{}'),
      -- Drops recipients that were erased meanwhile.
      pending = array(select r from unnest($5::smallint[]) as r where r = any (q.pending || q.held))
    from moment
    where q.account_id = $1 and q.message_id = $2 and q.lease_owner = $3::uuid and q.fence = $4::bigint
      and q.due_at > moment.now
    returning q.account_id, q.message_id, q.retention_days, q.pending),
  stated as (
    update message m set state = $7, state_at = moment.now
    from kept, moment
    where $7::text is not null
      and m.account_id = $1 and m.id = $2 and m.retention_days = kept.retention_days),
  recorded as (
    ${insertEventRows('kept')}
    from ${eventRows('$8')}
    cross join kept
    on conflict do nothing)
  select pending from kept`;

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
      state_at = case when item.state is null then m.state_at else ${timeBefore('item.state_ago')} end,
      -- Uses the current content, because a recipient may have been erased since the claim.
      content = case when item.erased is null or m.content is null then m.content
        else ${withValues('m', 'item.erased')} end
    from written join item using (place)
    where (item.state is not null or item.erased is not null)
      and m.account_id = written.account_id and m.id = written.message_id
      and m.retention_days = written.retention_days),
  recorded as (
    ${insertEventRows('written')}
    from ${eventRows('$2')}
    join written using (place)
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
