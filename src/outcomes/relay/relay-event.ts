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

/** What a relay's report is about, and who reports. */
interface ReportSource extends Pick<RelayReport, 'delivery' | 'report'> {
  readonly by: string;
  readonly address: string;
}

/** Creates a bounce report of a relay. */
export function relayBounce(
  source: ReportSource,
  bounce: {
    readonly words: string;
    readonly permanent: boolean;
    readonly status?: string;
    /** The relay's own classification; used if the text isn't conclusive. */
    readonly cause?: PermanentCause | undefined;
  },
): RelayReport {
  const found = classifyBounce(statusPattern.exec(bounce.status ?? '')?.[0], bounce.words);
  const cause = found.cause === 'other' ? (bounce.cause ?? 'other') : found.cause;
  const { status, diagnostic: reason } = found;
  return relayEvent(source, 'bounced', { cause, permanent: bounce.permanent, status, reason });
}

/** Creates another report of a relay. */
export function relayEvent(
  { by, delivery, address, report }: ReportSource,
  kind: RelayReport['kind'],
  detail: Readonly<Record<string, unknown>> = {},
): RelayReport {
  return { delivery, recipient: { address }, kind, detail: { by, ...detail }, report };
}
