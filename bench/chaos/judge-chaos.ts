import type { Database } from '../../src/foundation/database/open-database.ts';
import type { AccountId } from '../../src/foundation/ids.ts';

export interface ChaosVerdict {
  /** Answered with 200. */
  readonly accepted: number;
  /** Of those, recorded by the receiver at least once. */
  readonly delivered: number;
  /** Messages with an attempt of unknown end. */
  readonly uncertain: number;
  /** Accepted and never received. */
  readonly lost: number;
  /** Received more than once without a recorded uncertain attempt. */
  readonly doubled: number;
  /** Received more than once, with such a record. */
  readonly doubledUncertain: number;
  /** Messages by state at the end. */
  readonly states: Readonly<Record<string, number>>;
}

/** Matches what was promised with what the receiver recorded, message by message. */
export async function judgeChaos(
  database: Database,
  accountId: AccountId,
  accepted: ReadonlySet<string>,
  received: ReadonlyMap<string, number>,
): Promise<ChaosVerdict> {
  const events = await database.pool.query<{ message_id: string }>(
    `select distinct message_id from message_event where account_id = $1 and kind = 'uncertain'`,
    [accountId],
  );
  const uncertain = new Set(events.rows.map((row) => row.message_id));
  const states = await database.pool.query<{ state: string; count: number }>(
    'select state, count(*)::int as count from message where account_id = $1 group by state',
    [accountId],
  );
  const twice = [...received].filter(([, times]) => times > 1).map(([id]) => id);
  const lost = [...accepted].filter((id) => !received.has(id));
  const doubled = twice.filter((id) => !uncertain.has(id));
  for (const id of lost.slice(0, 10)) process.stderr.write(`lost ${id}\n`);
  for (const id of doubled.slice(0, 10)) process.stderr.write(`doubled ${id}\n`);
  return {
    accepted: accepted.size,
    delivered: accepted.size - lost.length,
    uncertain: uncertain.size,
    lost: lost.length,
    doubled: doubled.length,
    doubledUncertain: twice.length - doubled.length,
    states: Object.fromEntries(states.rows.map((row) => [row.state, row.count])),
  };
}
