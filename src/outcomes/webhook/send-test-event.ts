import type { Static } from 'typebox';
import type { EmailAddress } from '../../base/values/email-address.ts';
import { type AccountId, newId, newMessageId } from '../../base/values/ids.ts';
import type { Wire } from '../../base/values/wire.ts';
import type { WebhookKind } from '../../content/message/event-kinds.ts';
import type { DeliverWebhooksDependencies } from './deliver-webhooks.ts';
import { asReadableBy, withReply } from './describe-event.ts';
import type { ReplyView } from './describe-reply.ts';
import { readSendableEndpoint } from './endpoint-store.ts';
import { postWebhook, type WebhookExchange } from './post-webhook.ts';
import { describeIn, hasEvent, webhookFormats } from './webhook-formats.ts';

/** A sample event as posted, and the endpoint's response. */
export interface TestEventResult {
  readonly eventId: string;
  readonly request: string;
  readonly exchange: WebhookExchange;
}

/**
 * Posts a sample event of a kind, in the format of the endpoint and signed like real ones. Its body has `test: true`, so that
 * receivers can ignore it.
 * @returns undefined if the endpoint is not found; `unknown` if its format has no such event
 */
export async function sendTestEvent(
  { database, box, networks, hostNames, clock }: DeliverWebhooksDependencies,
  accountId: AccountId,
  endpointId: string,
  kind: WebhookKind,
): Promise<TestEventResult | 'unknown' | undefined> {
  const endpoint = await readSendableEndpoint(database.kysely, box, accountId, endpointId);
  if (endpoint === undefined) return undefined;
  if (!hasEvent(endpoint.format, kind)) return 'unknown';
  const now = clock.now();
  const eventId = newId();
  const event = {
    eventId,
    messageId: newMessageId(),
    kind,
    at: new Date(now),
    recipient: kind === 'accepted' || kind === 'replied' ? null : 0,
    detail: sampleDetails[kind],
    templateId: 'receipt',
    tag: 'orders',
    externalId: 'A-1001',
    attributes: { order: 'A-1001' },
    address: 'ada@customer.example',
    envelope: { from: sampleSender, subject: 'Your order', sendAt: null },
  };
  const described = describeIn(endpoint.format, asReadableBy(endpoint, event));
  const reply = endpoint.permissions.has('messages:read')
    ? sampleReply(eventId, event.messageId, event.at)
    : null;
  const sample = kind === 'replied' ? withReply(described, reply) : described;
  const marked = Array.isArray(sample)
    ? sample.map((each: object) => ({ ...each, test: true }))
    : { ...sample, test: true };
  const unsigned = {
    id: eventId,
    timestamp: Math.floor(now / 1_000),
    body: JSON.stringify(marked),
  };
  const { headers, body } = webhookFormats[endpoint.format].sign(unsigned, endpoint.secrets);
  return {
    eventId,
    request: body,
    exchange: await postWebhook(endpoint.url, headers, body, networks, hostNames),
  };
}

function sampleReply(replyId: string, messageId: string, receivedAt: Date) {
  const passed = { result: 'pass', domain: 'customer.example' } as const;
  return {
    replyId,
    messageId,
    receivedAt,
    size: 1_024,
    automatic: false,
    from: { address: 'ada@customer.example', name: 'Ada' },
    subject: 'Re: Your order',
    unread: false,
    envelopeFrom: 'ada@customer.example',
    to: [{ address: 'r-example@bounces.shop.example', name: '' }],
    cc: [],
    replyTo: [],
    date: receivedAt.toISOString(),
    headers: {
      messageId: '<reply@customer.example>',
      inReplyTo: null,
      references: [],
      autoSubmitted: null,
    },
    authentication: { spf: passed, dkim: passed, dmarc: passed },
    text: 'Thank you!',
    textUrl: null,
    html: null,
    htmlUrl: null,
    attachments: [],
  } satisfies Wire<Static<typeof ReplyView>>;
}

const sampleSender = { address: 'hello@shop.example' as EmailAddress, name: 'Shop' };
const server = 'mx.customer.example';
const reader = {
  class: 'person',
  reason: 'no sign of a scanner or prefetch',
  network: '198.51.100.0/24',
  userAgent: 'Mozilla/5.0',
};

/** What real events of each kind tell. */
const sampleDetails: Readonly<Record<WebhookKind, Readonly<Record<string, unknown>>>> = {
  accepted: {},
  delivered: { attempt: 1, server, stage: 'final', reply: '250 2.0.0 OK', reason: '250 2.0.0 OK' },
  deferred: {
    attempt: 1,
    server,
    stage: 'recipient',
    cause: 'greylist',
    reason: '450 4.7.1 Greylisted, try again later',
  },
  delayed: { by: 'mail', status: '4.4.1', reason: 'The server is still trying' },
  bounced: {
    attempt: 1,
    server,
    stage: 'recipient',
    cause: 'no-mailbox',
    reason: '550 5.1.1 No such user',
  },
  expired: { attempt: 12, reason: 'no attempt succeeded within 48 hours' },
  failed: { attempt: 1, reason: 'an internal error' },
  uncertain: { attempt: 1, server, stage: 'final', cause: 'uncertain' },
  canceled: {},
  opened: reader,
  clicked: { link: 1, ...reader },
  replied: { automatic: false },
  complained: { by: 'mail', feedbackType: 'abuse' },
  unsubscribed: {},
  'link-scanned': { field: 'Reset URL', class: 'scanner', reason: 'no user agent' },
  'link-confirmed': {
    field: 'Reset URL',
    class: reader.class,
    reason: reader.reason,
    afterDeliveryMs: 40_000,
  },
};
