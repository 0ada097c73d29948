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
import type { Completion, RecordedEvents } from './settle-attempt.ts';

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
   * Writes outcomes in one statement: removes or reschedules deliveries, updates message states and adds events.
   * @returns whether each was written
   */
  async complete(completions: readonly Completion[]): Promise<boolean[]> {
    await this.#recordRelayIds(completions);
    const items = JSON.stringify(completions.map(itemOf));
    const events = completions.flatMap((completion, place) =>
      completion.events.map((event) => eventRow(event, place)),
    );
    const mayErase = completions.some(({ erased, hasOthers }) => erased !== undefined && hasOthers);
    const statement = {
      name: 'queue-complete',
      text: completeStatement,
      values: [items, `[${events.join(',')}]`],
    };
    return this.#run(completions, statement, mayErase ? lockMessages(items) : undefined);
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
        update queued_delivery q
        set ${change}
        from unnest((select $2::uuid[]), (select $3::text[]), (select $4::uuid[]), (select $5::smallint[]), (select $6::bigint[]))
          with ordinality as held (owner, account_id, message_id, recipient, fence, place)
        where ${isOwn('held')} and q.due_at + interval '0' > now() and $1::float8 is not null
        returning held.place::int - 1 as place`,
      values: [
        this.#leaseMs,
        messages.map((message) => message.owner),
        messages.map((message) => message.accountId),
        messages.map((message) => message.messageId),
        messages.map((message) => message.recipient),
        messages.map((message) => message.fence),
      ],
    });
  }

  /**
   * Runs a statement that returns the index of each item it wrote, again if its transaction failed by chance.
   * @param first runs before it, in the same transaction
   */
  async #run(
    items: readonly unknown[],
    statement: QueueStatement,
    first?: QueueStatement,
  ): Promise<boolean[]> {
    const run = () => runQueueStatement<{ place: number }>(this.#database, statement, first);
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

/** Whether a queued delivery has the lease of a row with its key, owner and fence. */
function isOwn(row: string): string {
  return `(${row}.account_id, ${row}.message_id, ${row}.recipient, ${row}.owner, ${row}.fence)
      = (q.account_id, q.message_id, q.recipient, q.lease_owner, q.fence)`;
}

/**
 * Two workers that settle the last recipients of a message at once would each still see the other's. In the order in which other
 * statements lock them: deliveries, then messages.
 */
function lockMessages(items: string): QueueStatement {
  return {
    name: 'queue-lock-messages',
    text: `
      with own as materialized (
        select q.account_id, q.message_id, q.retention_days
        from json_to_recordset($1::json) as item (account_id text, message_id uuid, recipient smallint, owner uuid, fence bigint)
        join queued_delivery q on ${isOwn('item')}
        order by q.account_id, q.message_id, q.recipient for update of q)
      select from own join message m
        on m.account_id = own.account_id and m.id = own.message_id and m.retention_days = own.retention_days
      order by m.account_id, m.id for update of m`,
    values: [items],
  };
}

// A recipient whose message was canceled meanwhile is claimed again at once, and ends as canceled.
const completeStatement = `
  with moment as materialized (select now() as now),
  item as materialized (
    select * from json_to_recordset($1::json) as x (place int, account_id text, message_id uuid, recipient smallint,
      owner uuid, fence bigint, canceled boolean, done boolean, held boolean, released boolean,
      state text, ago float8, due_in float8, reason text, erased jsonb, shared boolean)),
  gone as (
    delete from queued_delivery q using item
    where item.done and ${isOwn('item')}
    returning item.place, q.account_id, q.message_id, q.recipient, q.retention_days),
  kept as (
    update queued_delivery q
    set lease_owner = null, stage = null, doubtful = item.released and q.doubtful,
      held = item.held and (item.canceled or not q.canceled),
      reason = case when q.paused then q.reason else item.reason end,
      attempts = q.attempts - case when item.released then 1 else 0 end,
      -- One that is held for them is still suspect when it is retried.
      orphaned = case when item.released or q.orphaned >= ${holdAfter} then least(q.orphaned, ${suspectAfter}) else 0 end,
      due_at = case
        when q.canceled and not item.canceled then moment.now
        when q.paused then 'infinity'
        else coalesce(moment.now + item.due_in * interval '1 ms', 'infinity') end
    from item, moment
    where not item.done and ${isOwn('item')}
    returning item.place, q.account_id, q.message_id, q.recipient, q.retention_days),
  written as (select * from gone union all select * from kept),
  stated as (
    update message m
    set state = coalesce(item.state, m.state),
      state_at = case when item.state is null then m.state_at else ${timeBefore('item.ago')} end,
      -- Uses the current content, because a recipient may have been erased since the claim.
      content = case when item.erased is null or m.content is null or item.shared and exists (
          select from queued_delivery other
          where other.account_id = m.account_id and other.message_id = m.id
            and other.recipient not in (select recipient from gone where account_id = m.account_id and message_id = m.id))
        then m.content else ${withValues('m', 'item.erased')} end
    from (
      select written.account_id, written.message_id, written.retention_days, max(item.state) as state,
        max(item.ago) filter (where item.state is not null) as ago, bool_or(item.shared) as shared,
        (array_agg(item.erased) filter (where item.erased is not null))[1] as erased
      from written join item using (place)
      where item.state is not null or item.erased is not null
      group by 1, 2, 3) as item
    where m.account_id = item.account_id and m.id = item.message_id and m.retention_days = item.retention_days),
  recorded as (
    ${insertEventRows('written')}
    from ${eventRows('$2')}
    join written using (place)
    on conflict do nothing)
  select place from written`;

function itemOf(completion: Completion, place: number): Record<string, unknown> {
  const { message, state, erased } = completion;
  return {
    place,
    account_id: message.accountId,
    message_id: message.messageId,
    recipient: message.recipient,
    owner: message.owner,
    fence: message.fence,
    canceled: message.canceled,
    done: completion.done,
    held: completion.held,
    released: completion.released,
    state: state ?? null,
    ago: sinceTime(completion.settledAt),
    due_in: completion.dueIn ?? null,
    reason: completion.reason?.slice(0, 1_000).toWellFormed().replaceAll('\0', '') ?? null,
    erased: erased && Object.fromEntries(erased.map((name) => [name, null])),
    shared: completion.hasOthers,
  };
}
