import { createHmac, timingSafeEqual } from 'node:crypto';
import { tokenName } from './delivery-tokens.ts';
import { fieldsOf, textOf } from './json-fields.ts';
import { messageIdOf, type RelayReport, relayBounce, relayEvent } from './relay-event.ts';

/** Max age of a signed request, in milliseconds: Mailgun retries for 8 hours with the first signature. */
const maxAgeMs = 9 * 60 * 60_000;
/** How far Mailgun's clock may be ahead, in milliseconds. */
const maxAheadMs = 15 * 60_000;

/**
 * True if the body was signed with the account's webhook key. The signature covers only time and token, so the
 * rest can be trusted only if the token is new. Nothing separates the two in the signature's input, so only their fixed
 * lengths keep a used signature from counting for another time and token.
 */
export function isFromMailgun(body: unknown, key: string, now: number): boolean {
  const { timestamp, token, signature } = fieldsOf(fieldsOf(body).signature);
  const time = textOf(timestamp);
  const name = textOf(token);
  if (!/^\d{10}$/.test(time) || !/^[0-9a-f]{50}$/.test(name)) return false;
  const given = Buffer.from(textOf(signature), 'hex');
  const wanted = createHmac('sha256', key)
    .update(time + name)
    .digest();
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return false;
  const age = now - Number(time) * 1_000;
  return age <= maxAgeMs && age >= -maxAheadMs;
}

/** Identifies a signed request. */
export function mailgunToken(body: unknown): string {
  return textOf(fieldsOf(fieldsOf(body).signature).token);
}

/** Reads a failure, complaint or unsubscribe from Mailgun's webhooks. */
export function readMailgun(body: unknown): RelayReport[] {
  const data = fieldsOf(fieldsOf(body)['event-data']);
  const headers = fieldsOf(fieldsOf(data.message).headers);
  const source = {
    by: 'Mailgun',
    delivery: {
      token: textOf(fieldsOf(data['user-variables'])[tokenName]),
      earlier: messageIdOf(textOf(headers['message-id'])),
    },
    address: textOf(data.recipient),
    report: textOf(data.id),
  };
  const event = textOf(data.event);
  if (event === 'complained' || event === 'unsubscribed') return [relayEvent(source, event)];
  if (event !== 'failed') return [];
  if (textOf(data.severity) === 'temporary') return [relayEvent(source, 'delayed')];
  const status = fieldsOf(data['delivery-status']);
  const words = [textOf(status.code), textOf(status.message), textOf(status.description)]
    .filter((part) => part !== '')
    .join(' ');
  return [relayBounce(source, { status: textOf(status['enhanced-code']), words, permanent: true })];
}
