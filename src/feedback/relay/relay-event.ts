import type { PermanentCause } from '../../delivery/reply-rules.ts';
import { type MessageId, parseMessageId } from '../../foundation/ids.ts';
import { classifyBounce } from '../bounce/classify-bounce.ts';
import type { FeedbackEvent } from '../bounce/feedback-event-store.ts';

/** Header that identifies the message if the relay replaces its Message-ID. */
export const messageHeader = 'X-Signalpost-Message';
/** The same as Postmark metadata, which Postmark returns in webhooks. */
export const postmarkMetadata = 'signalpost-message';

/** Headers that let the SMTP_URL relay's reports identify the message; none if its Message-ID is enough. */
export function relayHeaders(smtpUrl: string | undefined, messageId: MessageId): string[] {
  const host = smtpUrl === undefined ? '' : (URL.parse(smtpUrl)?.hostname ?? '');
  if (/(^|\.)postmarkapp\.com$/.test(host))
    return [`X-PM-Metadata-${postmarkMetadata}: ${messageId}`];
  if (/(^|\.)amazonaws\.com(\.cn)?$/.test(host)) return [`${messageHeader}: ${messageId}`];
  return [];
}

/** Parses one of our Message-IDs (`<uuid@domain>`) or a plain id. */
export function messageIdOf(text: string): MessageId | undefined {
  return parseMessageId(text.trim().replace(/^<|@.*$|>$/gs, ''));
}

/** RFC 3463 section 2. */
const statusPattern = /\b[245]\.\d{1,3}\.\d{1,3}\b/;

/** Creates a bounce event from a relay's report. */
export function relayBounce(options: {
  readonly by: string;
  readonly messageId: MessageId;
  readonly address: string;
  readonly status?: string | undefined;
  readonly words: string;
  readonly permanent: boolean;
  /** The relay's own classification; used if the text isn't conclusive. */
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

/** Creates another event from a relay's report. */
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
