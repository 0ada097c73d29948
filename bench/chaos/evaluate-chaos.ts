import type { Database } from '../../src/foundation/database/open-database.ts';
import type { AccountId } from '../../src/foundation/ids.ts';
import { type ChaosLoad, recipientNumber } from './chaos-load.ts';
import type { RoughSink } from './rough-sink.ts';

/** Compares what was accepted with what was received. Each `uncertain` event of a recipient explains one copy more. */
export async function evaluateChaos(
  { pool }: Database,
  accountId: AccountId,
  { accepted }: ChaosLoad,
  { received }: RoughSink,
) {
  const events = await pool.query<{ id: string; recipient: number; attempts: number }>(
    `select message_id as id, recipient, count(distinct detail ->> 'attempt')::int as attempts
     from message_event where account_id = $1 and kind = 'uncertain' group by message_id, recipient`,
    [accountId],
  );
  const explained = new Map(
    events.rows.map(({ id, recipient, attempts }) => [`${id} ${recipient}`, attempts]),
  );
  const states = await pool.query<{ state: string; count: number }>(
    'select state, count(*)::int as count from message where account_id = $1 group by state',
    [accountId],
  );
  const lost = [...accepted].flatMap(([id, recipients]) =>
    recipients.every((address) => received.has(`${id} ${address}`)) ? [] : [id],
  );
  const recorded = new Set<string>();
  const unrecorded = new Set<string>();
  for (const [copy, times] of received) {
    const [id = '', address = ''] = copy.split(' ');
    const allowed = 1 + (explained.get(`${id} ${recipientNumber(address)}`) ?? 0);
    if (times > 1) (times <= allowed ? recorded : unrecorded).add(id);
  }
  for (const id of [...lost.slice(0, 10), ...[...unrecorded].slice(0, 10)]) {
    const { rows } = await pool.query(
      'select at, kind, recipient, detail from message_event where message_id = $1 order by at, id',
      [id],
    );
    const copies = [...received].filter(([copy]) => copy.startsWith(id));
    const what = unrecorded.has(id) ? 'doubled' : 'lost';
    process.stderr.write(`${what} ${id}: ${JSON.stringify({ copies, events: rows })}\n`);
  }
  return {
    accepted: accepted.size,
    delivered: accepted.size - lost.length,
    /** With an attempt of unknown outcome on record. */
    uncertain: new Set(events.rows.map(({ id }) => id)).size,
    /** Not received by each recipient. */
    lost: lost.length,
    /** Received more often than the record explains. */
    doubled: unrecorded.size,
    /** Received more than once, as the record explains. */
    doubledUncertain: recorded.size,
    states: Object.fromEntries(states.rows.map((row) => [row.state, row.count])),
  };
}
