import { readTraceContext } from '../../base/telemetry/trace-context.ts';
import { domainOf, type EmailAddress } from '../../base/values/email-address.ts';
import type { Log } from '../../base/values/log.ts';
import type { Follower } from './event-feed.ts';
import { type MessageEventRow, readMessageEvents } from './message-log-store.ts';

/**
 * Also logs each event of the follower's windows, regardless of LOG_LEVEL. Lines are written before the commit, so a crash
 * repeats the last ones but loses none.
 * @param withAddresses write whole addresses instead of their domains
 */
export function withMessageLines(follower: Follower, log: Log, withAddresses: boolean): Follower {
  const lines = log.child({ log: 'message' }, { level: 'info' });
  return {
    ...follower,
    async follow(transaction, window, throttle) {
      await follower.follow(transaction, window, throttle);
      for (const row of await readMessageEvents(transaction, window))
        lines.info(describeRow(row, withAddresses), 'message event');
    },
  };
}

/** Omits the texts of replies and reasons, which can quote an address. */
function describeRow(row: MessageEventRow, withAddresses: boolean): object {
  const { address, reply, cause, trace, ...members } = row;
  const code = /^\d{3}/.exec(reply ?? '')?.[0];
  const [, trace_id, span_id] = readTraceContext(trace)?.traceparent.split('-') ?? [];
  return {
    ...members,
    domain: address === null ? undefined : domainOf(address as EmailAddress),
    ...(withAddresses && { address }),
    ...(code !== undefined && { replyCode: Number(code) }),
    ...(cause !== null && { cause }),
    ...(trace_id !== undefined && { trace_id, span_id }),
  };
}
