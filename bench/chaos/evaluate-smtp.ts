import type { Database } from '../../src/base/database/open-database.ts';
import { type ChaosSmtpLoad, isSmtpRecipient, type SmtpMessage } from './chaos-smtp-load.ts';
import type { RoughSink } from './rough-sink.ts';

/** A stored message, with the number of its uncertain attempts. */
interface StoredMessage {
  readonly recipient: string;
  readonly uncertain: number;
}

/**
 * Compares what SMTP clients got a 250 for with what arrived. Every recipient has a unique address, which reveals messages
 * that were stored twice because their client repeated them.
 */
export async function evaluateSmtp(
  { pool }: Database,
  accountId: string,
  load: ChaosSmtpLoad,
  { received }: RoughSink,
) {
  const { rows } = await pool.query<StoredMessage>(
    `select m.content ->> 'to' as recipient, count(distinct e.detail ->> 'attempt')::int as uncertain
     from message m left join message_event e
       on e.account_id = m.account_id and e.message_id = m.id and e.kind = 'uncertain'
     where m.account_id = $1 and m.content ->> 'to' like 'smtp%' group by m.id, m.content ->> 'to'`,
    [accountId],
  );
  const stored = Map.groupBy(
    rows.filter(({ recipient }) => isSmtpRecipient(recipient)),
    ({ recipient }) => recipient,
  );
  const copies = [...received].map(([copy, arrivals]) => ({
    recipient: copy.split(' ')[1] ?? '',
    arrivals,
  }));
  const arrived = Map.groupBy(copies, ({ recipient }) => recipient);
  const arrivalsAt = (recipient: string) =>
    (arrived.get(recipient) ?? []).flatMap(({ arrivals }) => arrivals);
  const isDamaged = ({ recipients, files }: SmtpMessage): boolean =>
    recipients.some((recipient) =>
      arrivalsAt(recipient).some((arrival) => arrival.files.join() !== files.join()),
    );
  const lost = load.accepted.filter(({ recipients }) =>
    recipients.some((recipient) => arrivalsAt(recipient).length === 0),
  );
  const allowed = (recipient: string): number =>
    1 + (stored.get(recipient) ?? []).reduce((sum, { uncertain }) => sum + uncertain, 0);
  const repeatedAt = [...arrived.keys()]
    .filter(isSmtpRecipient)
    .filter((recipient) => arrivalsAt(recipient).length > 1);
  const doubled = repeatedAt.filter(
    (recipient) => arrivalsAt(recipient).length > allowed(recipient),
  );
  const storedTwice = [...stored].filter(([, messages]) => messages.length > 1);
  const facts = [...lost.map(({ recipients }) => recipients.join()), ...doubled];
  for (const fact of [...facts, ...storedTwice.map(([recipient]) => recipient)].slice(0, 10))
    process.stderr.write(`SMTP, lost, doubled or stored twice: ${fact}\n`);
  return {
    accepted: load.accepted.length,
    acceptedOf: load.acceptedOf,
    /** Attempts without a final reply, after which the client submitted the message again. */
    repeated: load.repeated,
    refused: load.refused,
    unanswered: load.unanswered,
    /** Messages that not all recipients received. */
    lost: lost.length,
    /** Recipients who received more copies than the events explain. */
    doubled: doubled.length,
    /** Recipients with a second stored message. */
    storedTwice: storedTwice.length,
    /** Messages whose attachments arrived changed. */
    damaged: load.accepted.filter(isDamaged).length,
    /** Recipients whose extra copies the events explain. */
    doubledUncertain: repeatedAt.length - doubled.length,
  };
}
