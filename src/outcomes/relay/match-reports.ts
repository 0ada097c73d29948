import type { Kysely } from '../../base/database/open-database.ts';
import { accountTagOf } from '../../content/message/account-tag.ts';
import type { FeedbackEvent } from '../bounce/feedback-event-store.ts';
import type { DeliveryTokens } from './delivery-tokens.ts';
import { findEarlierMessages, findRelayDeliveries } from './relay-delivery-store.ts';
import type { RelayReport } from './relay-event.ts';

/**
 * Finds the messages of a relay's reports: by the token that the service wrote into the delivery, or by the ID that the relay
 * gave when it took it. A Message-ID counts only for mail of release 0.2, because its author may have chosen it.
 */
export async function matchReports(
  kysely: Kysely,
  tokens: DeliveryTokens,
  reports: readonly RelayReport[],
): Promise<{
  readonly events: readonly FeedbackEvent[];
  readonly unmatched: readonly RelayReport[];
}> {
  const named = reports.map((report) => ({ report, message: tokens.read(report.delivery.token) }));
  const unknown = named.filter(({ message }) => message === undefined).map(({ report }) => report);
  const byRelayId = await findRelayDeliveries(
    kysely,
    unknown.flatMap(({ delivery }) => delivery.relayId ?? []),
  );
  const earlier = await findEarlierMessages(
    kysely,
    unknown.flatMap(({ delivery: { token, earlier: id } }) => (token === '' && id) || []),
  );
  const events: FeedbackEvent[] = [];
  const unmatched: RelayReport[] = [];
  for (const { report, message: byToken } of named) {
    const { delivery, ...event } = report;
    const given = byRelayId.get(delivery.relayId ?? '');
    if (byToken !== undefined) events.push({ ...event, ...byToken });
    else if (given !== undefined)
      events.push({
        ...event,
        messageId: given.messageId,
        accountTag: accountTagOf(given.accountId),
      });
    else if (delivery.earlier !== undefined && earlier.has(delivery.earlier))
      events.push({ ...event, messageId: delivery.earlier });
    else unmatched.push(report);
  }
  return { events, unmatched };
}
