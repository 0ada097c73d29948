import { createHmac, randomBytes } from 'node:crypto';
import { textOf } from '../relay/json-fields.ts';
import {
  messageOf,
  readerOf,
  serverReply,
  type WebhookEvent,
  type WebhookFormat,
} from './webhook-format.ts';

/** What Mailgun tells of some kinds of events only. */
function describeKind(event: WebhookEvent): object {
  const { kind, detail } = event;
  const { text, status, code } = serverReply(event);
  const { ip, userAgent, isPerson } = readerOf(event);
  const deliveryStatus = {
    code,
    message: text,
    description: '',
    'attempt-no': Number(textOf(detail.attempt)) || 1,
    ...(status !== '' && { 'enhanced-code': status }),
    ...(typeof detail.server === 'string' && { 'mx-host': detail.server }),
  };
  const reader = {
    ip,
    'client-info': {
      'user-agent': userAgent,
      'device-type': 'unknown',
      bot: isPerson ? '' : 'generic',
    },
  };
  switch (kind) {
    case 'delivered':
      return { 'log-level': 'info', 'delivery-status': deliveryStatus };
    case 'deferred':
    case 'delayed':
      return {
        'log-level': 'warn',
        severity: 'temporary',
        reason: 'generic',
        'delivery-status': deliveryStatus,
      };
    case 'bounced':
    case 'expired':
      return {
        'log-level': 'error',
        severity: 'permanent',
        reason: kind === 'expired' ? 'old' : 'bounce',
        'delivery-status': deliveryStatus,
      };
    case 'failed':
      return { 'log-level': 'error', reject: { reason: text, description: '' } };
    case 'complained':
      return { 'log-level': 'warn' };
    case 'opened':
      return { 'log-level': 'info', ...reader };
    case 'clicked':
      return { 'log-level': 'info', url: '', ...reader };
    default:
      return { 'log-level': 'info' };
  }
}

/** Mailgun's format (documentation.mailgun.com, webhook payloads), whose body contains its signature: HMAC with SHA-256. */
export const mailgunWebhook: WebhookFormat = {
  names: {
    accepted: 'accepted',
    delivered: 'delivered',
    bounced: 'failed',
    deferred: 'failed',
    expired: 'failed',
    failed: 'rejected',
    uncertain: null,
    canceled: null,
    delayed: 'failed',
    complained: 'complained',
    unsubscribed: 'unsubscribed',
    replied: null,
    opened: 'opened',
    clicked: 'clicked',
  },
  describe(event) {
    const { kind, eventId, at, address, tag, attributes } = event;
    const { headerId, from, fromAddress, subject } = messageOf(event);
    const recipient = address ?? '';
    return {
      'event-data': {
        event: mailgunWebhook.names[kind],
        id: eventId,
        timestamp: at.getTime() / 1_000,
        recipient,
        'recipient-domain': recipient.slice(recipient.lastIndexOf('@') + 1),
        tags: tag === null ? [] : [tag],
        'user-variables': attributes ?? {},
        campaigns: [],
        flags: {
          'is-routed': false,
          'is-authenticated': true,
          'is-system-test': false,
          'is-test-mode': false,
        },
        envelope: { sender: fromAddress, targets: recipient, transport: 'smtp' },
        message: { headers: { to: recipient, from, subject, 'message-id': headerId } },
        ...describeKind(event),
      },
    };
  },
  signsTwice: false,
  sign({ id, timestamp, body }, [secret = '']) {
    const token = randomBytes(25).toString('hex');
    const hash = createHmac('sha256', secret).update(timestamp + token);
    const signature = { timestamp: String(timestamp), token, signature: hash.digest('hex') };
    return {
      body: JSON.stringify({ signature, ...(JSON.parse(body) as object) }),
      headers: { 'webhook-id': id },
    };
  },
};
