import type { Database } from '../../src/base/database/open-database.ts';
import type { AccountId } from '../../src/base/values/ids.ts';
import { type ChaosLoad, recipientNumber } from './chaos-load.ts';
import { isSmtpRecipient } from './chaos-smtp-load.ts';
import type { RoughSink } from './rough-sink.ts';

/** Tolerance for rounding and clock adjustments. */
const toleranceMs = 50;

/** Compares what was accepted over HTTP with what arrived. `uncertain` explains an extra copy, `expired` a missing one. */
export async function evaluateChaos(
  { pool }: Database,
  accountIds: readonly AccountId[],
  { accepted, acceptedOf }: ChaosLoad,
  { received }: RoughSink,
) {
  /** Attempts with such an event, by message and recipient. */
  const readAttempts = async (kind: string) => {
    const { rows } = await pool.query<{ copy: string; attempts: number }>(
      `select concat(message_id, ' ', recipient) as copy, count(distinct detail ->> 'attempt')::int as attempts
       from message_event where account_id = any ($1) and kind = $2 group by message_id, recipient`,
      [accountIds, kind],
    );
    return new Map(rows.map(({ copy, attempts }) => [copy, attempts]));
  };
  const [explained, expired] = [await readAttempts('uncertain'), await readAttempts('expired')];
  const states = await pool.query(
    'select state, count(*)::int as count from message where account_id = any ($1) group by state',
    [accountIds],
  );
  const ids = () => new Set<string>();
  const wrong = { lost: ids(), doubled: ids(), damaged: ids(), early: ids() };
  for (const [id, { recipients, files, sendAt, canExpire }] of accepted)
    for (const [number, address] of recipients.entries()) {
      const arrivals = received.get(`${id} ${address}`) ?? [];
      if (arrivals.length === 0 && !(canExpire && expired.has(`${id} ${number}`)))
        wrong.lost.add(id);
      if (arrivals.some((arrival) => arrival.files.join() !== files.join())) wrong.damaged.add(id);
      if (arrivals.some(({ at }) => at < sendAt - toleranceMs)) wrong.early.add(id);
    }
  const recorded = ids();
  for (const [copy, { length: times }] of received) {
    const [id = '', address = ''] = copy.split(' ');
    if (isSmtpRecipient(address)) continue;
    const allowed = 1 + (explained.get(`${id} ${recipientNumber(address)}`) ?? 0);
    if (times > 1) (times <= allowed ? recorded : wrong.doubled).add(id);
  }
  for (const [what, all] of Object.entries(wrong))
    for (const id of [...all].slice(0, 10)) {
      const { rows } = await pool.query(
        'select at, kind, recipient, detail from message_event where message_id = $1 order by at, id',
        [id],
      );
      const copies = [...received].filter(([copy]) => copy.startsWith(id));
      const facts = { expected: accepted.get(id), copies, events: rows };
      process.stderr.write(`${what} ${id}: ${JSON.stringify(facts)}\n`);
    }
  return {
    accepted: accepted.size,
    acceptedOf,
    /** Or expired at its own deadline. */
    delivered: accepted.size - wrong.lost.size,
    /** With an attempt of unknown outcome on record. */
    uncertain: new Set([...explained.keys()].map((key) => key.split(' ')[0])).size,
    /** Neither received by each recipient nor expired as asked. */
    lost: wrong.lost.size,
    /** Received more often than the record explains. */
    doubled: wrong.doubled.size,
    /** With other attachments than were sent. */
    damaged: wrong.damaged.size,
    /** Received before their send time. */
    early: wrong.early.size,
    /** Received more than once, as the record explains. */
    doubledUncertain: recorded.size,
    states: Object.fromEntries(states.rows.map((row) => [row.state, row.count])),
  };
}
