import { createPublicKey, verify } from 'node:crypto';
import { tokenName } from './delivery-tokens.ts';
import { fieldsOf, listOf, textOf } from './json-fields.ts';
import { messageIdOf, type RelayReport, relayBounce, relayEvent } from './relay-event.ts';

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
  const der = Buffer.from(key, 'base64');
  try {
    const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' });
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

const otherKinds = new Map<string, RelayReport['kind']>([
  ['spamreport', 'complained'],
  ['unsubscribe', 'unsubscribed'],
  ['group_unsubscribe', 'unsubscribed'],
  ['deferred', 'delayed'],
]);

/** Reads bounces, drops, complaints and unsubscribes from SendGrid's event webhook. */
export function readSendgrid(body: unknown): RelayReport[] {
  return listOf(body).flatMap((entry): RelayReport[] => {
    const event = fieldsOf(entry);
    // Only the unique_args of X-SMTPAPI are in every event; `smtp-id` is in those of delivery.
    const source = {
      by: 'SendGrid',
      delivery: {
        token: textOf(event[tokenName]),
        earlier: messageIdOf(textOf(event['smtp-id'])),
      },
      address: textOf(event.email),
      report: textOf(event.sg_event_id),
    };
    const kind = textOf(event.event);
    const other = otherKinds.get(kind);
    if (other !== undefined) return [relayEvent(source, other)];
    if (kind !== 'bounce' && kind !== 'dropped') return [];
    const bounce = { status: textOf(event.status), words: textOf(event.reason) };
    if (kind === 'dropped' && invalidAddress.has(bounce.words))
      return [relayBounce(source, { ...bounce, permanent: true, cause: 'no-mailbox' })];
    const permanent = kind === 'bounce' && event.type !== 'blocked';
    return [relayBounce(source, { ...bounce, permanent })];
  });
}
