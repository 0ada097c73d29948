import {
  createECDH,
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  type KeyObject,
  sign,
} from 'node:crypto';
import type { PermanentCause } from '../../sending/delivery/reply-rules.ts';
import { textOf } from '../relay/json-fields.ts';
import {
  isHardBounce,
  messageOf,
  readerOf,
  serverReply,
  type WebhookEvent,
  type WebhookFormat,
} from './webhook-format.ts';

/** The order of the curve P-256 (FIPS 186-5, SP 800-186 section 3.2.1.3). */
const order = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551');
const coordinateBytes = 32;

/** The private key of a secret, by extra random bits (FIPS 186-5 section A.2.1), so that no second secret has to be kept. */
function privateKeyOf(secret: string): KeyObject {
  const bits = hkdfSync('sha256', secret, '', 'SendGrid event webhook', coordinateBytes + 16);
  const scalar = (BigInt(`0x${Buffer.from(bits).toString('hex')}`) % (order - 1n)) + 1n;
  const d = Buffer.from(scalar.toString(16).padStart(2 * coordinateBytes, '0'), 'hex');
  const curve = createECDH('prime256v1');
  curve.setPrivateKey(d);
  const point = curve.getPublicKey().subarray(1);
  const [x, y] = [point.subarray(0, coordinateBytes), point.subarray(coordinateBytes)];
  const [dText, xText, yText] = [d, x, y].map((bytes) => bytes.toString('base64url'));
  const key = { kty: 'EC', crv: 'P-256', d: dText ?? '', x: xText ?? '', y: yText ?? '' };
  return createPrivateKey({ key, format: 'jwk' });
}

/** The key that verifies the signatures of a secret, as SendGrid shows it: DER in base64. */
export function sendgridPublicKey(secret: string): string {
  const key = createPublicKey(privateKeyOf(secret));
  return key.export({ format: 'der', type: 'spki' }).toString('base64');
}

/** SendGrid's classes of bounces. */
const classifications: Partial<Record<PermanentCause, string>> = {
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

/** What SendGrid tells of some kinds of events only. */
function describeKind(event: WebhookEvent): object {
  const { kind, detail } = event;
  const { text, status } = serverReply(event);
  const { ip, userAgent: useragent, isPerson } = readerOf(event);
  switch (kind) {
    case 'delivered':
      return { response: text };
    case 'deferred':
    case 'delayed':
      return { response: text, attempt: textOf(detail.attempt) || '1' };
    case 'bounced':
    case 'expired':
      return {
        reason: text,
        status,
        type: isHardBounce(event) ? 'bounce' : 'blocked',
        bounce_classification: classifications[detail.cause as PermanentCause] ?? 'Unclassified',
      };
    case 'failed':
      return { reason: text };
    case 'opened':
      return { useragent, ip, sg_machine_open: !isPerson };
    case 'clicked':
      return { useragent, ip, url: '' };
    default:
      return {};
  }
}

/**
 * SendGrid's format (twilio.com/docs/sendgrid/for-developers/tracking-events/event), a batch of one event, with the signature of
 * its signed event webhook: ECDSA with SHA-256 over timestamp and body.
 */
export const sendgridWebhook: WebhookFormat = {
  names: {
    accepted: 'processed',
    delivered: 'delivered',
    bounced: 'bounce',
    deferred: 'deferred',
    expired: 'bounce',
    failed: 'dropped',
    uncertain: null,
    canceled: null,
    delayed: 'deferred',
    complained: 'spamreport',
    unsubscribed: 'unsubscribe',
    replied: null,
    opened: 'open',
    clicked: 'click',
  },
  describe(event) {
    const { headerId } = messageOf(event);
    const described = {
      // First, so that an attribute can't replace what SendGrid tells.
      ...event.attributes,
      email: event.address ?? '',
      timestamp: Math.floor(event.at.getTime() / 1_000),
      event: sendgridWebhook.names[event.kind],
      ...(headerId !== '' && { 'smtp-id': `<${headerId}>` }),
      ...(event.tag !== null && { category: [event.tag] }),
      sg_event_id: event.eventId,
      sg_message_id: event.messageId,
      ...describeKind(event),
    };
    return [described];
  },
  signsTwice: false,
  sign({ id, timestamp, body }, [secret = '']) {
    const signature = sign('sha256', Buffer.from(timestamp + body), privateKeyOf(secret));
    return {
      body,
      headers: {
        'webhook-id': id,
        'x-twilio-email-event-webhook-signature': signature.toString('base64'),
        'x-twilio-email-event-webhook-timestamp': String(timestamp),
      },
    };
  },
};
