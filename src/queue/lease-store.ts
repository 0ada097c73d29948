import type { Database } from '../foundation/database/open-database.ts';
import { isRetryable } from '../foundation/database/sqlstate.ts';
import { eventRow, eventRows, insertEvents, timeBefore } from '../message/write-events.ts';
import type { AttemptProgress } from './advance-attempt.ts';
import type { ClaimedMessage } from './attempt.ts';
import { runQueueStatement } from './queue-statement-store.ts';
import { recordRelayIds } from './relay-id-store.ts';

/** Updates leases held by this process. Each write checks owner and fence, so a lost lease changes nothing. */
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

  /** Records the finished transactions of an attempt. @returns whether the lease is still held */
  advance(advance: AttemptProgress): Promise<boolean> {
    return advanceLease(this.#database, advance);
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

  async #write(
    name: string,
    change: string,
    messages: readonly ClaimedMessage[],
  ): Promise<boolean[]> {
    // Sub-selects hide the arrays, and a sum hides `due_at`, so the planner uses one generic plan. Otherwise it scans
    // the due-time index for leased entries, which it estimates at none.
    const run = () =>
      runQueueStatement<{ place: number }>(this.#database, {
        name,
        text: `
          update queue_entry q
          set ${change}
          from unnest((select $2::uuid[]), (select $3::text[]), (select $4::uuid[]), (select $5::bigint[])) with ordinality
            as held (owner, account_id, message_id, fence, place)
          where q.account_id = held.account_id and q.message_id = held.message_id
            and q.fence = held.fence and q.lease_owner = held.owner
            and q.due_at + interval '0' > now() and $1::float8 is not null
          returning held.place::int as place`,
        values: [
          this.#leaseMs,
          messages.map((message) => message.owner),
          messages.map((message) => message.accountId),
          messages.map((message) => message.messageId),
          messages.map((message) => message.fence),
        ],
      });
    const { rows } = await run().catch((error: unknown) => {
      if (isRetryable(error)) return run();
      throw error;
    });
    const stillHeld = messages.map(() => false);
    for (const { place } of rows) stillHeld[place - 1] = true;
    return stillHeld;
  }
}

/**
 * Records the finished transactions of an attempt and the next one's recipients in one flushed statement under the
 * lease.
 * @returns false if the lease is no longer held and nothing was written
 */
async function advanceLease(database: Database, advance: AttemptProgress): Promise<boolean> {
  const { message } = advance;
  await recordRelayIds(database, [advance]);
  const { rows } = await runQueueStatement(database, {
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
  return rows.length === 1;
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
    returning q.retention_days),
  stated as (
    update message m set state = $7, state_at = moment.now
    from kept, moment
    where $7::text is not null
      and m.account_id = $1 and m.id = $2 and m.retention_days = kept.retention_days),
  recorded as (
    ${insertEvents({
      accountId: '$1',
      messageId: '$2',
      retentionDays: 'kept.retention_days',
      id: 'event.id',
      at: timeBefore('moment.now', 'event.ago'),
      kind: { from: 'event.kind' },
      recipient: 'event.recipient',
      detail: 'event.detail',
    })}
    from ${eventRows('$8')}
    cross join kept cross join moment
    on conflict do nothing)
  select from kept`;
