import type { Database } from '../../src/foundation/database/open-database.ts';
import type { AccountId } from '../../src/foundation/ids.ts';
import { recipientNumber } from './chaos-load.ts';
import { type Copy, copyOf } from './sink.ts';

export interface ChaosVerdict {
  /** Answered with 200. */
  readonly accepted: number;
  /** Of those, received at least once for each recipient. */
  readonly delivered: number;
  /** Messages with an attempt of unknown end on record. */
  readonly uncertain: number;
  /** Accepted, and not received for each recipient. */
  readonly lost: number;
  /** Received by a recipient more often than the record of its uncertain attempts allows. */
  readonly doubled: number;
  /** Received by a recipient more than once, each copy but the last with an uncertain attempt on record. */
  readonly doubledUncertain: number;
  /** Messages by state at the end. */
  readonly states: Readonly<Record<string, number>>;
}

/**
 * Matches what was promised with what the receiver recorded, message by message and recipient by recipient. A copy too
 * many is explained by an event `uncertain` of that recipient; one event explains one copy.
 */
export async function evaluateChaos(
  database: Database,
  accountId: AccountId,
  accepted: ReadonlyMap<string, readonly string[]>,
  received: ReadonlyMap<Copy, number>,
): Promise<ChaosVerdict> {
  const events = await database.pool.query<{ id: string; recipient: number; attempts: number }>(
    `select message_id as id, recipient, count(distinct detail ->> 'attempt')::int as attempts
     from message_event where account_id = $1 and kind = 'uncertain' group by message_id, recipient`,
    [accountId],
  );
  const explained = new Map(
    events.rows.map(({ id, recipient, attempts }) => [`${id} ${recipient}`, attempts]),
  );
  const states = await database.pool.query<{ state: string; count: number }>(
    'select state, count(*)::int as count from message where account_id = $1 group by state',
    [accountId],
  );
  const lost = [...accepted]
    .filter(([id, recipients]) => !recipients.every((address) => received.has(copyOf(id, address))))
    .map(([id]) => id);
  const recorded = new Set<string>();
  const unrecorded = new Set<string>();
  for (const [copy, times] of received) {
    if (times < 2) continue;
    const [id = '', address = ''] = copy.split(' ');
    const allowed = 1 + (explained.get(`${id} ${recipientNumber(address)}`) ?? 0);
    (times <= allowed ? recorded : unrecorded).add(id);
  }
  for (const id of lost.slice(0, 10)) await printMessageHistory('lost', id, database, received);
  for (const id of [...unrecorded].slice(0, 10))
    await printMessageHistory('doubled', id, database, received);
  return {
    accepted: accepted.size,
    delivered: accepted.size - lost.length,
    uncertain: new Set(events.rows.map(({ id }) => id)).size,
    lost: lost.length,
    doubled: unrecorded.size,
    doubledUncertain: recorded.size,
    states: Object.fromEntries(states.rows.map((row) => [row.state, row.count])),
  };
}

/** Says all that is known of a message. */
async function printMessageHistory(
  what: string,
  id: string,
  database: Database,
  received: ReadonlyMap<Copy, number>,
): Promise<void> {
  const { rows } = await database.pool.query(
    'select at, kind, recipient, detail from message_event where message_id = $1 order by at, id',
    [id],
  );
  const copies = [...received].filter(([copy]) => copy.startsWith(id));
  process.stderr.write(`${what} ${id}: ${JSON.stringify({ copies, events: rows })}\n`);
}
