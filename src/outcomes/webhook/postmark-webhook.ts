import type { PermanentCause } from '../../sending/delivery/reply-rules.ts';
import type { WebhookFacts, WebhookFormat } from './webhook-format.ts';

type BounceType = readonly [type: string, code: number, name: string];

const hardBounce: BounceType = ['HardBounce', 1, 'Hard bounce'];
const softBounce: BounceType = ['SoftBounce', 4_096, 'Soft bounce'];
const spamNotification: BounceType = ['SpamNotification', 512, 'Spam notification'];
const blocked: BounceType = ['Blocked', 100_006, 'ISP block'];
const spamComplaint: BounceType = ['SpamComplaint', 100_001, 'Spam complaint'];

/** Postmark's types for what isn't a hard bounce (postmarkapp.com/developer/api/bounce-api#bounce-types). */
const bounceTypes: Partial<Record<PermanentCause, BounceType>> = {
  content: spamNotification,
  filtered: spamNotification,
  policy: blocked,
  reputation: blocked,
  authentication: ['DMARCPolicy', 100_009, 'DMARC policy'],
};

function bounceTypeOf({ kind, isHard, cause, detail }: WebhookFacts): BounceType {
  if (kind === 'complained') return spamComplaint;
  if (isHard) return hardBounce;
  return (detail.permanent === false ? undefined : bounceTypes[cause]) ?? softBounce;
}

/**
 * Postmark's bounces have numbers: here the time of the message and the 12 bits after it, which find it by its ID. They fit into a
 * JSON number until 2039.
 */
export function bounceIdOf(messageId: string): number {
  const digits = messageId.replaceAll('-', '');
  return Number.parseInt(digits.slice(0, 12) + digits.slice(13, 16), 16);
}

/** When the message of a bounce was accepted, in milliseconds since the epoch. */
export function timeOfBounce(id: number): number {
  return Math.floor(id / 4_096);
}

/** A bounce or complaint. */
export function describeBounce(facts: WebhookFacts) {
  const type = bounceTypeOf(facts);
  const [Type, TypeCode, Name] = type;
  return {
    ID: bounceIdOf(facts.messageId),
    Type,
    TypeCode,
    Name,
    Description: facts.text,
    Details: facts.text,
    Email: facts.email,
    From: facts.from,
    Subject: facts.subject,
    BouncedAt: facts.time,
    DumpAvailable: false,
    Inactive: type === hardBounce || type === spamComplaint,
    CanActivate: type === hardBounce,
  };
}

const unknown = { Name: '', Company: '', Family: '' };

const describeReader = (facts: WebhookFacts) => ({
  Recipient: facts.email,
  ReceivedAt: facts.time,
  Client: unknown,
  OS: unknown,
  Platform: 'Unknown',
  UserAgent: facts.userAgent,
  Geo: { IP: facts.ip },
});

/** Postmark's format (postmarkapp.com/developer/webhooks/webhooks-overview); its secret is `user:password` (RFC 7617). */
export const postmarkWebhook: WebhookFormat = {
  events: {
    delivered: [
      'Delivery',
      (facts) => ({ Recipient: facts.email, DeliveredAt: facts.time, Details: facts.text }),
    ],
    bounced: ['Bounce', describeBounce],
    expired: ['Bounce', describeBounce],
    complained: ['SpamComplaint', describeBounce],
    unsubscribed: [
      'SubscriptionChange',
      ({ email, time }) => ({
        Recipient: email,
        ChangedAt: time,
        Origin: 'Recipient',
        SuppressSending: true,
        SuppressionReason: 'ManualSuppression',
      }),
    ],
    opened: ['Open', (facts) => ({ FirstOpen: false, ReadSeconds: 0, ...describeReader(facts) })],
    clicked: [
      'Click',
      (facts) => ({ ClickLocation: 'HTML', OriginalLink: '', ...describeReader(facts) }),
    ],
  },
  describe: (RecordType, { messageId: MessageID, tag, tags: Metadata }, members) => ({
    RecordType,
    MessageStream: 'outbound',
    ServerID: 0,
    MessageID,
    Tag: tag ?? '',
    Metadata,
    ...members,
  }),
  signsTwice: false,
  sign({ id, body }, [credentials = '']) {
    const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
    return { body, headers: { 'webhook-id': id, authorization } };
  },
};
