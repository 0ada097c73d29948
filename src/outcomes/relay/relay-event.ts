import { type MessageId, parseMessageId } from '../../base/values/ids.ts';
import type { PermanentCause } from '../../sending/delivery/reply-rules.ts';
import { classifyBounce } from '../bounce/classify-bounce.ts';
import type { FeedbackEvent } from '../bounce/feedback-event-store.ts';

/** What a relay's report says about which delivery it means. */
export interface NamedDelivery {
  /** What the relay returns of `relayHeaders`; empty if it returned nothing. */
  readonly token: string;
  /** The ID that the relay gave the delivery when it took it. */
  readonly relayId?: string | undefined;
  /** A Message-ID or an ID of a message, which release 0.2 wrote instead of tokens. */
  readonly earlier: MessageId | undefined;
}

/** A relay's report before it is known whether it is about one of our deliveries. */
export interface RelayReport extends Pick<FeedbackEvent, 'kind' | 'detail' | 'report'> {
  readonly delivery: NamedDelivery;
  readonly recipient: { readonly address: string };
}

/** Parses one of our Message-IDs (`<uuid@domain>`) or a plain id. */
export function messageIdOf(text: string): MessageId | undefined {
  return parseMessageId(text.trim().replace(/^<|@.*$|>$/gs, ''));
}

/** RFC 3463 section 2. */
const statusPattern = /\b[245]\.\d{1,3}\.\d{1,3}\b/;

/** Creates a bounce report of a relay. */
export function relayBounce(options: {
  readonly by: string;
  readonly delivery: NamedDelivery;
  readonly address: string;
  readonly status?: string | undefined;
  readonly words: string;
  readonly permanent: boolean;
  /** The relay's own classification; used if the text isn't conclusive. */
  readonly cause?: PermanentCause | undefined;
  readonly report: string;
}): RelayReport {
  const { by, delivery, address, words, permanent, report } = options;
  const bounce = classifyBounce(statusPattern.exec(options.status ?? '')?.[0], words);
  const cause = bounce.cause === 'other' ? (options.cause ?? 'other') : bounce.cause;
  const { status, diagnostic: reason } = bounce;
  return {
    delivery,
    recipient: { address },
    kind: 'bounced',
    detail: { by, cause, permanent, status, reason },
    report,
  };
}

/** Creates another report of a relay. */
export function relayEvent(
  kind: 'complained' | 'unsubscribed' | 'delayed',
  by: string,
  delivery: NamedDelivery,
  address: string,
  report: string,
  detail: Readonly<Record<string, unknown>> = {},
): RelayReport {
  return { delivery, recipient: { address }, kind, detail: { by, ...detail }, report };
}
