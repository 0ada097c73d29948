/**
 * The states of a message, which are those of its To recipient. Each Cc recipient has separate events.
 *
 *     queued ──claim──> sending ──reply──> delivered                          final
 *                          │  ├──────────> bounced                            final
 *                          │  ├──────────> deferred  ──due───> sending
 *                          │  ├──────────> uncertain ──due───> sending        held for review if the template says so
 *                          │  ├──────────> failed    ──retry─> sending        held for review
 *                          │  └──────────> expired                            final
 *     queued, deferred, uncertain, failed ──cancel──> canceled                final
 *     accepted with a suppressed recipient ──> suppressed                     final
 *
 * queued     Committed before the 200 and due at once, or at its send time.
 * sending    Leased by a worker. Only the queued delivery shows this state; it is too short to write to the message row.
 * delivered  The next host accepted the final dot (RFC 5321 section 4.2.5). A later bounce message is only an event.
 * bounced    Rejected permanently by a 5yz reply, or too large to send with these values.
 * deferred   A 4yz reply, or a connection, DNS or TLS failure.
 * uncertain  The final dot may have been sent, but no reply was read. The template says whether to resend or hold it.
 * failed     An internal error, such as a rendering that throws.
 * expired    Not accepted by the next host within 48 hours, the freshness window or the message's deadline.
 * canceled   Canceled by a user, or its domain isn't in DELIVERY_ALLOW.
 * suppressed The recipient's address is suppressed, at acceptance or at the send time.
 *
 * A lease has two stages. If it expires in `claimed`, nothing was sent and the message is due again; if it expires in
 * `dot`, the final dot may have been sent and the message is uncertain. Those held for review have an infinite `due_at`;
 * those of a suspended account keep their `due_at` but aren't claimed.
 */
export const messageStates = {
  queued: { next: 'attempt' },
  sending: { next: 'attempt' },
  deferred: { next: 'attempt' },
  delivered: { next: 'nothing' },
  bounced: { next: 'nothing' },
  expired: { next: 'nothing' },
  failed: { next: 'review' },
  uncertain: { next: 'attempt' },
  suppressed: { next: 'nothing' },
  canceled: { next: 'nothing' },
} as const satisfies Readonly<Record<string, { readonly next: NextForState }>>;

/** What a state waits for. Uncertain messages wait for a review instead if their template says so. */
type NextForState = 'attempt' | 'review' | 'nothing';

export type MessageState = keyof typeof messageStates;

export const messageStateNames = Object.keys(messageStates) as MessageState[];

/** True if no further delivery is attempted for the recipient. */
export function isFinalState(state: MessageState): boolean {
  return messageStates[state].next === 'nothing';
}

/**
 * Max delivery time, unless the freshness window ends sooner. RFC 5321 section 4.5.4.1 suggests 4 to 5 days, but
 * event-triggered email is worthless long before that.
 */
export const maxDeliverySeconds = 48 * 60 * 60;
