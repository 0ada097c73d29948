import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from 'node:crypto';
import type { PermanentCause } from '../../sending/delivery/reply-rules.ts';
import type { WebhookFacts, WebhookFormat } from './webhook-format.ts';

/** The order of the curve P-256 (SP 800-186 section 3.2.1.3). */
const order = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551');

/** The private key of a secret, by extra random bits (FIPS 186-5 section A.2.1), so that no second secret has to be kept. */
function privateKeyOf(secret: string): KeyObject {
  const bits = Buffer.from(hkdfSync('sha256', secret, '', 'SendGrid event webhook', 48));
  const scalar = (BigInt(`0x${bits.toString('hex')}`) % (order - 1n)) + 1n;
  // RFC 5915 section 3: version 1, the key, the object identifier of P-256.
  const der = `30310201010420${scalar.toString(16).padStart(64, '0')}a00a06082a8648ce3d030107`;
  return createPrivateKey({ key: Buffer.from(der, 'hex'), format: 'der', type: 'sec1' });
}

/** The key that verifies the signatures of a secret, as SendGrid shows it: DER in base64. */
export function sendgridPublicKey(secret: string): string {
  const key = createPublicKey(privateKeyOf(secret));
  return key.export({ format: 'der', type: 'spki' }).toString('base64');
}

/** SendGrid's classes of bounces. */
const classes: Partial<Record<PermanentCause, string>> = {
  'no-mailbox': 'Invalid Address',
  'no-domain': 'Technical',
  'mailbox-disabled': 'Mailbox Unavailable',
  'mailbox-full': 'Mailbox Unavailable',
  content: 'Content',
  filtered: 'Content',
  size: 'Content',
  policy: 'Reputation',
  reputation: 'Reputation',
  authentication: 'Reputation',
};

const describeDelay = ({ text: response, attempt }: WebhookFacts) => ({
  response,
  attempt: String(attempt),
});

const describeBounce = ({ text: reason, status, isHard, cause }: WebhookFacts) => {
  const type = isHard ? 'bounce' : 'blocked';
  return { reason, status, type, bounce_classification: classes[cause] ?? 'Unclassified' };
};

/**
 * SendGrid's format (twilio.com/docs/sendgrid/for-developers/tracking-events/event), a batch of one event, with the signature of
 * its signed event webhook: ECDSA with SHA-256 over timestamp and body.
 */
export const sendgridWebhook: WebhookFormat = {
  events: {
    accepted: ['processed'],
    delivered: ['delivered', ({ text: response }) => ({ response })],
    bounced: ['bounce', describeBounce],
    deferred: ['deferred', describeDelay],
    expired: ['bounce', describeBounce],
    failed: ['dropped', ({ text: reason }) => ({ reason })],
    delayed: ['deferred', describeDelay],
    complained: ['spamreport'],
    unsubscribed: ['unsubscribe'],
    opened: [
      'open',
      ({ userAgent: useragent, ip, isPerson }) => ({ useragent, ip, sg_machine_open: !isPerson }),
    ],
    clicked: ['click', ({ userAgent: useragent, ip }) => ({ useragent, ip, url: '' })],
  },
  describe: (event, { tags, email, at, headerId, tag, eventId, messageId }, members) => [
    {
      // First, so that an attribute can't replace what SendGrid tells.
      ...tags,
      email,
      timestamp: Math.floor(at.getTime() / 1_000),
      event,
      ...(headerId !== '' && { 'smtp-id': `<${headerId}>` }),
      ...(tag !== null && { category: [tag] }),
      sg_event_id: eventId,
      sg_message_id: messageId,
      ...members,
    },
  ],
  signsTwice: false,
  sign({ id, timestamp, body }, [secret = '']) {
    const signature = sign('sha256', Buffer.from(timestamp + body), privateKeyOf(secret));
    const headers = {
      'webhook-id': id,
      'x-twilio-email-event-webhook-signature': signature.toString('base64'),
      'x-twilio-email-event-webhook-timestamp': String(timestamp),
    };
    return { body, headers };
  },
};
