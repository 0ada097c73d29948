import { createPublicKey, verify } from 'node:crypto';
import { tokenName } from './delivery-tokens.ts';
import { fieldsOf, listOf, textOf } from './json-fields.ts';
import { messageIdOf, type RelayReport, relayBounce, relayEvent } from './relay-event.ts';

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

/** Reasons of a dropped message that say that its address is permanently invalid. */
const invalidAddress: ReadonlySet<string> = new Set(['Bounced Address', 'Invalid']);

/** Reads bounces, drops, complaints and unsubscribes from SendGrid's event webhook. */
export function readSendgrid(body: unknown): RelayReport[] {
  return listOf(body).flatMap((entry): RelayReport[] => {
    const event = fieldsOf(entry);
    // Only the unique_args of X-SMTPAPI are in every event; `smtp-id` is in those of delivery.
    const delivery = {
      token: textOf(event[tokenName]),
      earlier: messageIdOf(textOf(event['smtp-id'])),
    };
    const address = textOf(event.email);
    const report = textOf(event.sg_event_id);
    const kind = textOf(event.event);
    if (kind === 'spamreport') return [relayEvent('complained', by, delivery, address, report)];
    if (kind === 'unsubscribe' || kind === 'group_unsubscribe')
      return [relayEvent('unsubscribed', by, delivery, address, report)];
    if (kind === 'deferred') return [relayEvent('delayed', by, delivery, address, report)];
    if (kind !== 'bounce' && kind !== 'dropped') return [];
    const bounce = {
      by,
      delivery,
      address,
      status: textOf(event.status),
      words: textOf(event.reason),
      report,
    };
    if (kind === 'dropped' && invalidAddress.has(bounce.words))
      return [relayBounce({ ...bounce, permanent: true, cause: 'no-mailbox' })];
    return [relayBounce({ ...bounce, permanent: kind === 'bounce' && event.type !== 'blocked' })];
  });
}
