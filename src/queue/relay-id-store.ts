import type { Database } from '../foundation/database/open-database.ts';
import { runQueueStatement } from './queue-statement-store.ts';
import type { RecordedEvents } from './settle-attempt.ts';

/**
 * Records the IDs that a relay gave deliveries, before their outcomes, so that no report comes for an ID that isn't stored yet.
 * Writing one again changes nothing.
 */
export async function recordRelayIds(
  database: Database,
  recorded: readonly RecordedEvents[],
): Promise<void> {
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
  await runQueueStatement(database, {
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
