import type { PermanentCause } from '../../sending/delivery/reply-rules.ts';
import {
  isHardBounce,
  messageOf,
  readerOf,
  serverReply,
  type WebhookEvent,
  type WebhookFormat,
} from './webhook-format.ts';

type BounceType = readonly [type: string, code: number, name: string];

const softBounce: BounceType = ['SoftBounce', 4_096, 'Soft bounce'];
const spamNotification: BounceType = ['SpamNotification', 512, 'Spam notification'];
const blocked: BounceType = ['Blocked', 100_006, 'ISP block'];

/** Postmark's types for what isn't a hard bounce (postmarkapp.com/developer/api/bounce-api#bounce-types). */
const bounceTypes: Partial<Record<PermanentCause, BounceType>> = {
  content: spamNotification,
  filtered: spamNotification,
  policy: blocked,
  reputation: blocked,
  authentication: ['DMARCPolicy', 100_009, 'DMARC policy'],
};

function bounceTypeOf(event: WebhookEvent): BounceType {
  if (event.kind === 'complained') return ['SpamComplaint', 100_001, 'Spam complaint'];
  if (isHardBounce(event)) return ['HardBounce', 1, 'Hard bounce'];
  if (event.detail.permanent === false) return softBounce;
  return bounceTypes[event.detail.cause as PermanentCause] ?? softBounce;
}

/** What Postmark tells of a bounce or complaint. */
function describeBounce(event: WebhookEvent) {
  const { text } = serverReply(event);
  const { from, subject } = messageOf(event);
  const [Type, TypeCode, Name] = bounceTypeOf(event);
  const Inactive = TypeCode === 1 || TypeCode === 100_001;
  return {
    // 48 random bits of the event's ID, because Postmark's are numbers.
    ID: Number.parseInt(event.eventId.slice(-12), 16),
    Type,
    TypeCode,
    Name,
    Description: text,
    Details: text,
    Email: event.address ?? '',
    From: from,
    Subject: subject,
    BouncedAt: event.at.toISOString(),
    DumpAvailable: false,
    Inactive,
    CanActivate: TypeCode === 1,
  };
}

/** What Postmark tells of an open or click. */
function describeReader(event: WebhookEvent) {
  const { ip: IP, userAgent: UserAgent } = readerOf(event);
  const unknown = { Name: '', Company: '', Family: '' };
  const reader = { Client: unknown, OS: unknown, Platform: 'Unknown', UserAgent, Geo: { IP } };
  return { Recipient: event.address ?? '', ReceivedAt: event.at.toISOString(), ...reader };
}

/** Postmark's format (postmarkapp.com/developer/webhooks/webhooks-overview); its secret is `user:password` (RFC 7617). */
export const postmarkWebhook: WebhookFormat = {
  names: {
    accepted: null,
    delivered: 'Delivery',
    bounced: 'Bounce',
    deferred: null,
    expired: 'Bounce',
    failed: null,
    uncertain: null,
    canceled: null,
    delayed: null,
    complained: 'SpamComplaint',
    unsubscribed: 'SubscriptionChange',
    replied: null,
    opened: 'Open',
    clicked: 'Click',
  },
  describe(event) {
    const { kind, at, messageId, attributes, tag, address } = event;
    const Recipient = address ?? '';
    return {
      RecordType: postmarkWebhook.names[kind],
      MessageStream: 'outbound',
      ServerID: 0,
      MessageID: messageId,
      Tag: tag ?? '',
      Metadata: attributes ?? {},
      ...(kind === 'delivered' && {
        Recipient,
        DeliveredAt: at.toISOString(),
        Details: serverReply(event).text,
      }),
      ...((kind === 'bounced' || kind === 'expired' || kind === 'complained') &&
        describeBounce(event)),
      ...(kind === 'opened' && { FirstOpen: false, ReadSeconds: 0, ...describeReader(event) }),
      ...(kind === 'clicked' && {
        ClickLocation: 'HTML',
        OriginalLink: '',
        ...describeReader(event),
      }),
      ...(kind === 'unsubscribed' && {
        Recipient,
        ChangedAt: at.toISOString(),
        Origin: 'Recipient',
        SuppressSending: true,
        SuppressionReason: 'ManualSuppression',
      }),
    };
  },
  signsTwice: false,
  sign: ({ id, body }, [credentials = '']) => ({
    body,
    headers: {
      'webhook-id': id,
      authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
    },
  }),
};
