import { createHmac, randomBytes } from 'node:crypto';
import type { SignedWebhook, UnsignedWebhook } from './webhook-format.ts';

const prefix = 'whsec_';
const secretBytes = 32;

/** A new secret in Standard Webhooks format: `whsec_` plus base64. */
export function newWebhookSecret(): string {
  return prefix + randomBytes(secretBytes).toString('base64');
}

/**
 * Signature headers for a request (Standard Webhooks 1.0). The id is the same on every attempt so receivers can
 * deduplicate; each secret adds a signature so keys can be rotated.
 * @param timestamp seconds since the epoch
 * @param prefixed the beginning of the headers' names
 */
export function signWebhook(
  id: string,
  timestamp: number,
  body: string,
  secrets: readonly string[],
  prefixed: 'webhook' | 'svix' = 'webhook',
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    [`${prefixed}-id`]: id,
    [`${prefixed}-timestamp`]: String(timestamp),
    [`${prefixed}-signature`]: signatures.join(' '),
  };
}

/** Signs with Standard Webhooks. @param prefixed the beginning of the headers' names */
export const standardWebhooks = (prefixed: 'webhook' | 'svix') => ({
  signsTwice: true,
  sign: ({ id, timestamp, body }: UnsignedWebhook, secrets: readonly string[]): SignedWebhook => ({
    body,
    headers: signWebhook(id, timestamp, body, secrets, prefixed),
  }),
});
