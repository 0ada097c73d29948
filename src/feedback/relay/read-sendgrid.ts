import { createPublicKey, verify } from 'node:crypto';
import type { FeedbackEvent } from '../bounce/feedback-event-store.ts';
import { fieldsOf, listOf, textOf } from './json-fields.ts';
import { messageIdOf, relayBounce, relayEvent } from './relay-event.ts';

const by = 'SendGrid';

/**
 * True if the raw body was signed (ECDSA with SHA-256) with the account's private key.
 * @param key the public key as SendGrid shows it: DER in base64
 */
export function isFromSendgrid(
  raw: string,
  timestamp: string,
  signature: string,
  key: string,
): boolean {
  try {
    const publicKey = createPublicKey({
      key: Buffer.from(key, 'base64'),
      format: 'der',
      type: 'spki',
    });
    return verify(
      'sha256',
      Buffer.from(timestamp + raw),
      publicKey,
      Buffer.from(signature, 'base64'),
    );
  } catch {
    return false;
  }
}

/** Reads bounces, drops, complaints and unsubscribes from SendGrid's event webhook. */
export function readSendgrid(body: unknown): FeedbackEvent[] {
  return listOf(body).flatMap((entry): FeedbackEvent[] => {
    const event = fieldsOf(entry);
    const messageId = messageIdOf(textOf(event['smtp-id']));
    if (messageId === undefined) return [];
    const address = textOf(event.email);
    const report = textOf(event.sg_event_id);
    const kind = textOf(event.event);
    if (kind === 'spamreport') return [relayEvent('complained', by, messageId, address, report)];
    if (kind === 'unsubscribe') return [relayEvent('unsubscribed', by, messageId, address, report)];
    if (kind === 'deferred') return [relayEvent('delayed', by, messageId, address, report)];
    if (kind !== 'bounce' && kind !== 'dropped') return [];
    const bounce = {
      by,
      messageId,
      address,
      status: textOf(event.status),
      words: textOf(event.reason),
      report,
    };
    return [relayBounce({ ...bounce, permanent: kind === 'bounce' && event.type !== 'blocked' })];
  });
}
