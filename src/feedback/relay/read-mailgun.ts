import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FeedbackEvent } from '../bounce/feedback-event-store.ts';
import { fieldsOf, textOf } from './json-fields.ts';
import { messageIdOf, relayBounce, relayEvent } from './relay-event.ts';

const by = 'Mailgun';

/** Max age of a signed request, in milliseconds. */
const maxAgeMs = 15 * 60_000;

/**
 * True if the body was recently signed with the account's webhook key. The signature covers only time and token, so the
 * rest can be trusted only if the token is new.
 */
export function isFromMailgun(body: unknown, key: string, now: number): boolean {
  const { timestamp, token, signature } = fieldsOf(fieldsOf(body).signature);
  const given = Buffer.from(textOf(signature), 'hex');
  const wanted = createHmac('sha256', key)
    .update(`${textOf(timestamp)}${textOf(token)}`)
    .digest();
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return false;
  return Math.abs(now - Number(textOf(timestamp)) * 1_000) <= maxAgeMs;
}

/** Identifies a signed request. */
export function mailgunToken(body: unknown): string {
  return textOf(fieldsOf(fieldsOf(body).signature).token);
}

/** Reads a failure, complaint or unsubscribe from Mailgun's webhooks. */
export function readMailgun(body: unknown): FeedbackEvent[] {
  const data = fieldsOf(fieldsOf(body)['event-data']);
  const headers = fieldsOf(fieldsOf(data.message).headers);
  const messageId = messageIdOf(textOf(headers['message-id']));
  if (messageId === undefined) return [];
  const address = textOf(data.recipient);
  const report = textOf(data.id);
  const event = textOf(data.event);
  if (event === 'complained' || event === 'unsubscribed')
    return [relayEvent(event, by, messageId, address, report)];
  if (event !== 'failed') return [];
  const status = fieldsOf(data['delivery-status']);
  const words = [textOf(status.code), textOf(status.message), textOf(status.description)]
    .filter((part) => part !== '')
    .join(' ');
  // Mailgun still retries after a temporary failure.
  if (textOf(data.severity) === 'temporary')
    return [relayEvent('delayed', by, messageId, address, report)];
  return [
    relayBounce({
      by,
      messageId,
      address,
      status: textOf(status['enhanced-code']),
      words,
      permanent: true,
      report,
    }),
  ];
}
