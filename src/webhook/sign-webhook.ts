import { createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';
const secretBytes = 32;

/** A new secret, in the form that Standard Webhooks gives it: `whsec_` and base64. */
export function newWebhookSecret(): string {
  return prefix + randomBytes(secretBytes).toString('base64');
}

/**
 * The headers that sign a request (Standard Webhooks 1.0): the id stays the same on every attempt, so that a receiver can
 * tell a repetition; with several secrets the header holds a signature for each, so that keys can be rotated.
 * @param timestamp seconds since the epoch
 */
export function signWebhook(
  id: string,
  timestamp: number,
  body: string,
  secrets: readonly string[],
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
