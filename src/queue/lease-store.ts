import type { Database } from '../foundation/database/open-database.ts';
import { isRetryable } from '../foundation/database/sqlstate.ts';
import type { AttemptProgress } from './advance-attempt.ts';
import { advanceLease } from './advance-lease-store.ts';
import type { ClaimedMessage } from './attempt.ts';
import { runQueueStatement } from './queue-statement-store.ts';

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
