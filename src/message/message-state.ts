/**
 * The states of a message. This is the state of its To recipient; each Cc recipient has events of its own.
 *
 *     queued ──claim──> sending ──reply──> delivered                          final
 *                          │  ├──────────> bounced                            final
 *                          │  ├──────────> deferred  ──due──> sending         waits for a time
 *                          │  ├──────────> uncertain ──due──> sending         waits for a time, or for a person
 *                          │  ├──────────> failed    ──hand─> sending         waits for a person
 *                          │  └──────────> expired                            final
 *     queued, deferred, uncertain, failed ──person──> canceled                final
 *     accepted with a suppressed recipient ──> suppressed                     final
 *
 * queued     The row was committed before the 200. It is due at once; whoever claims it first has it.
 * sending    A worker holds the lease of its queue entry (`lease_owner`, until `due_at`). The message row still says what
 *            it said before: a state that lasts milliseconds is not worth a write, the queue entry shows it. The lease has
 *            two stages. `claimed`: nothing that a receiver could take for the message's end has left this machine; when
 *            the lease ends here, the message was not sent and is simply due again. `dot`: a flushed write has said that
 *            the final dot may leave; when the lease ends here, nobody knows, and the message is uncertain.
 * delivered  The next host took responsibility with its reply to the final dot (RFC 5321 section 4.2.5). Nobody has it in
 *            an inbox yet; a later bounce message is an event of its own and does not change this.
 * bounced    The next host refused for good: a 5yz reply for the recipient, for the sender, or after the final dot. So does
 *            this service where the values make the message larger than messages may be.
 * deferred   A 4yz reply, or a fault of connection, name look-up or TLS. Queued again; the entry says when and why.
 * uncertain  The final dot may have left and no final reply was read, whether by a crash, a time-out or a closed
 *            connection. The template says which: sent again with the same Message-ID, or held for a person. Each such
 *            attempt is an event, so what may have arrived twice can be counted.
 * failed     A fault of ours, such as a rendering that throws. No other message waits for it; it is kept for a person.
 * expired    Its time was over (48 hours, or the freshness window) before the next host took it.
 * canceled   A person withdrew it, or DELIVERY_ALLOW holds its domain back.
 * suppressed The recipient must not be written to.
 *
 * Every entry that is not final has either a time (`due_at`) or waits for a person (`due_at` is infinity and the recipient
 * stands in `held`), and says why in `reason`. A suspended account's entries keep their time and are not claimed.
 */
export const messageStates = {
  queued: { next: 'attempt' },
  sending: { next: 'attempt' },
  deferred: { next: 'attempt' },
  delivered: { next: 'nothing' },
  bounced: { next: 'nothing' },
  expired: { next: 'nothing' },
  failed: { next: 'person' },
  uncertain: { next: 'attempt' },
  suppressed: { next: 'nothing' },
  canceled: { next: 'nothing' },
} as const satisfies Readonly<Record<string, { readonly next: NextForState }>>;

/** What a message in a state waits for; where a template holds uncertain messages, those wait for a person. */
type NextForState = 'attempt' | 'person' | 'nothing';

export type MessageState = keyof typeof messageStates;

export const messageStateNames = Object.keys(messageStates) as MessageState[];

/** True if no further delivery is attempted for the recipient. */
export function isFinalState(state: MessageState): boolean {
  return messageStates[state].next === 'nothing';
}

/** How long delivery is tried, in seconds, unless the freshness window ends it sooner (RFC 5321 section 4.5.4.1: 4 to 5 days are usual for mail between people; news of an event is worthless long before). */
export const maxDeliverySeconds = 48 * 60 * 60;
