import type { PermanentCause } from '../../delivery/reply-rules.ts';
import { type MessageId, parseMessageId } from '../../foundation/ids.ts';
import { classifyBounce } from '../bounce/classify-bounce.ts';
import type { FeedbackEvent } from '../bounce/feedback-event-store.ts';

/** Header that names the message for relays that give it a Message-ID of their own. */
export const messageHeader = 'X-Signalpost-Message';
/** The same as metadata of Postmark, which hands it back. */
export const postmarkMetadata = 'signalpost-message';

/** Header lines by which reports of the relay of SMTP_URL will name the message; none where its Message-ID does. */
export function relayHeaders(smtpUrl: string | undefined, messageId: MessageId): string[] {
  const host = smtpUrl === undefined ? '' : (URL.parse(smtpUrl)?.hostname ?? '');
  if (/(^|\.)postmarkapp\.com$/.test(host))
    return [`X-PM-Metadata-${postmarkMetadata}: ${messageId}`];
  if (/(^|\.)amazonaws\.com(\.cn)?$/.test(host)) return [`${messageHeader}: ${messageId}`];
  return [];
}

/** The message that a Message-ID of this service names (`<uuid@domain>`), or an id by itself. */
export function messageIdOf(text: string): MessageId | undefined {
  return parseMessageId(text.trim().replace(/^<|@.*$|>$/gs, ''));
}

/** RFC 3463 section 2. */
const statusPattern = /\b[245]\.\d{1,3}\.\d{1,3}\b/;

/** A bounce as a relay tells it. */
export function relayBounce(options: {
  readonly by: string;
  readonly messageId: MessageId;
  readonly address: string;
  readonly status?: string | undefined;
  readonly words: string;
  readonly permanent: boolean;
  /** What the relay itself says it was about; counts where the words say nothing. */
  readonly cause?: PermanentCause | undefined;
  readonly report: string;
}): FeedbackEvent {
  const { by, messageId, address, words, permanent, report } = options;
  const bounce = classifyBounce(statusPattern.exec(options.status ?? '')?.[0], words);
  const cause = bounce.cause === 'other' ? (options.cause ?? 'other') : bounce.cause;
  const { status, diagnostic: reason } = bounce;
  return {
    messageId,
    recipient: { address },
    kind: 'bounced',
    detail: { by, cause, permanent, status, reason },
    report,
  };
}

/** Another report of a relay. */
export function relayEvent(
  kind: 'complained' | 'unsubscribed' | 'delayed',
  by: string,
  messageId: MessageId,
  address: string,
  report: string,
  detail: Readonly<Record<string, unknown>> = {},
): FeedbackEvent {
  return { messageId, recipient: { address }, kind, detail: { by, ...detail }, report };
}
