import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { Resend } from 'resend';
import type { EmailAddress } from '../../../src/base/values/email-address.ts';
import type { MessageId } from '../../../src/base/values/ids.ts';
import { webhookKinds } from '../../../src/content/message/event-kinds.ts';
import { isFromMailgun, readMailgun } from '../../../src/outcomes/relay/read-mailgun.ts';
import { readPostmark } from '../../../src/outcomes/relay/read-postmark.ts';
import { isFromSendgrid, readSendgrid } from '../../../src/outcomes/relay/read-sendgrid.ts';
import { readSes } from '../../../src/outcomes/relay/read-ses.ts';
import { asReadableBy } from '../../../src/outcomes/webhook/describe-event.ts';
import { sendgridPublicKey } from '../../../src/outcomes/webhook/sendgrid-webhook.ts';
import { newWebhookSecret } from '../../../src/outcomes/webhook/sign-webhook.ts';
import type { SignedWebhook, WebhookEvent } from '../../../src/outcomes/webhook/webhook-format.ts';
import {
  describeIn,
  hasEvent,
  newSecretOf,
  type WebhookFormatName,
  webhookFormatNames,
  webhookFormats,
} from '../../../src/outcomes/webhook/webhook-formats.ts';

const messageId = '01a20a6f-2c7b-7562-9b87-690be7af4e61' as MessageId;
const acceptedAt = new Date(0x01_a2_0a_6f_2c_7b).toISOString();
const at = new Date('2026-11-30T12:00:01.250Z');
const reply = '550 5.1.1 No such user';
const browser = { class: 'person', network: '198.51.100.0/24', userAgent: 'Mozilla/5.0' };

const details: Partial<Record<WebhookEvent['kind'], WebhookEvent['detail']>> = {
  delivered: { attempt: 1, server: 'mx.test', reply: '250 2.0.0 OK', reason: '250 2.0.0 OK' },
  deferred: {
    attempt: 3,
    server: 'mx.test',
    cause: 'greylist',
    reason: 'the server temporarily rejected the recipient: 450 4.7.1 Later',
    reply: '450 4.7.1 Later',
  },
  delayed: { by: 'mail', status: '4.4.1', reason: 'Still trying' },
  bounced: {
    attempt: 1,
    server: 'mx.test',
    cause: 'no-mailbox',
    reason: `the server rejected the recipient: ${reply}`,
    reply,
  },
  expired: { attempt: 12, reason: 'no attempt succeeded within 48 hours' },
  failed: { attempt: 1, reason: 'an internal error' },
  opened: browser,
  clicked: { link: 1, ...browser },
  complained: { by: 'mail', feedbackType: 'abuse' },
};

function eventOf(kind: WebhookEvent['kind'], changes: Partial<WebhookEvent> = {}): WebhookEvent {
  return {
    eventId: '01a20a70-0000-7000-8000-0000000000ff',
    messageId,
    kind,
    at,
    recipient: 0,
    detail: details[kind] ?? {},
    templateId: 'receipt',
    tag: 'orders',
    externalId: 'A-1001',
    attributes: { order: 'A-1001', event: 'mine' },
    address: 'ada@customer.example',
    envelope: {
      from: { address: 'hello@shop.example' as EmailAddress, name: 'Shop' },
      subject: 'Your order',
      sendAt: null,
    },
    ...changes,
  };
}

function describe(
  format: WebhookFormatName,
  kind: WebhookEvent['kind'],
  changes?: Partial<WebhookEvent>,
) {
  return describeIn(format, eventOf(kind, changes)) as Record<string, unknown>;
}

const bounce = (cause: string, permanent?: boolean) => ({
  detail: { cause, reason: 'x', ...(permanent !== undefined && { permanent }) },
});

test('Resend: type, created_at and data with the members of its SDK', () => {
  const about = {
    created_at: acceptedAt,
    email_id: messageId,
    message_id: `<${messageId}@shop.example>`,
    from: 'Shop <hello@shop.example>',
    to: ['ada@customer.example'],
    subject: 'Your order',
    template_id: 'receipt',
    tags: { order: 'A-1001', event: 'mine' },
  };
  const created_at = at.toISOString();
  const rows: [WebhookEvent['kind'], string, object?][] = [
    ['accepted', 'email.sent'],
    ['delivered', 'email.delivered'],
    ['deferred', 'email.delivery_delayed'],
    ['delayed', 'email.delivery_delayed'],
    [
      'bounced',
      'email.bounced',
      { bounce: { message: reply, type: 'Permanent', subType: 'General' } },
    ],
    [
      'expired',
      'email.bounced',
      {
        bounce: {
          message: 'no attempt succeeded within 48 hours',
          type: 'Transient',
          subType: 'General',
        },
      },
    ],
    ['failed', 'email.failed', { failed: { reason: 'an internal error' } }],
    ['complained', 'email.complained'],
    ['opened', 'email.opened'],
    [
      'clicked',
      'email.clicked',
      {
        click: {
          ipAddress: '198.51.100.0',
          link: '',
          timestamp: created_at,
          userAgent: 'Mozilla/5.0',
        },
      },
    ],
  ];
  for (const [kind, type, more] of rows)
    assert.deepEqual(describe('resend', kind), { type, created_at, data: { ...about, ...more } });
  const scheduled = { from: null, subject: null, sendAt: '2026-12-01T00:00:00Z' };
  assert.equal(describe('resend', 'accepted', { envelope: scheduled }).type, 'email.scheduled');
  assert.equal(describe('resend', 'delivered', { envelope: scheduled }).type, 'email.delivered');
  const raw = describe('resend', 'delivered', { templateId: '.raw' }).data as object;
  assert.ok(!('template_id' in raw));
});

test('Postmark: a record of each type with the members of its SDK', () => {
  const about = {
    MessageStream: 'outbound',
    ServerID: 0,
    MessageID: messageId,
    Tag: 'orders',
    Metadata: { order: 'A-1001', event: 'mine' },
  };
  const time = at.toISOString();
  const Recipient = 'ada@customer.example';
  const failure = {
    ID: 7_354_250_804_311_394,
    Email: Recipient,
    From: 'Shop <hello@shop.example>',
    Subject: 'Your order',
    BouncedAt: time,
    DumpAvailable: false,
  };
  const unknown = { Name: '', Company: '', Family: '' };
  const reader = {
    Recipient,
    ReceivedAt: time,
    Client: unknown,
    OS: unknown,
    Platform: 'Unknown',
    UserAgent: 'Mozilla/5.0',
    Geo: { IP: '198.51.100.0' },
  };
  const rows: [WebhookEvent['kind'], object][] = [
    [
      'delivered',
      { RecordType: 'Delivery', Recipient, DeliveredAt: time, Details: '250 2.0.0 OK' },
    ],
    [
      'bounced',
      {
        RecordType: 'Bounce',
        ...failure,
        Type: 'HardBounce',
        TypeCode: 1,
        Name: 'Hard bounce',
        Description: reply,
        Details: reply,
        Inactive: true,
        CanActivate: true,
      },
    ],
    [
      'complained',
      {
        RecordType: 'SpamComplaint',
        ...failure,
        Type: 'SpamComplaint',
        TypeCode: 100_001,
        Name: 'Spam complaint',
        Description: '',
        Details: '',
        Inactive: true,
        CanActivate: false,
      },
    ],
    ['opened', { RecordType: 'Open', FirstOpen: false, ReadSeconds: 0, ...reader }],
    ['clicked', { RecordType: 'Click', ClickLocation: 'HTML', OriginalLink: '', ...reader }],
    [
      'unsubscribed',
      {
        RecordType: 'SubscriptionChange',
        Recipient,
        ChangedAt: time,
        Origin: 'Recipient',
        SuppressSending: true,
        SuppressionReason: 'ManualSuppression',
      },
    ],
  ];
  for (const [kind, record] of rows)
    assert.deepEqual(describe('postmark', kind), { ...about, ...record });
  for (const [event, type, code] of [
    [bounce('content'), 'SpamNotification', 512],
    [bounce('reputation'), 'Blocked', 100_006],
    [bounce('authentication'), 'DMARCPolicy', 100_009],
    [bounce('mailbox-full'), 'SoftBounce', 4_096],
    [bounce('no-mailbox', false), 'SoftBounce', 4_096],
    [bounce('no-domain', true), 'HardBounce', 1],
  ] as const) {
    const { Type, TypeCode, Inactive } = describe('postmark', 'bounced', event);
    assert.deepEqual([Type, TypeCode, Inactive], [type, code, code === 1]);
  }
  const { Type, RecordType } = describe('postmark', 'expired');
  assert.deepEqual([RecordType, Type], ['Bounce', 'SoftBounce']);
});

test('SendGrid: a batch of one event, whose members no attribute replaces', () => {
  const about = {
    order: 'A-1001',
    email: 'ada@customer.example',
    timestamp: Math.floor(at.getTime() / 1_000),
    'smtp-id': `<${messageId}@shop.example>`,
    category: ['orders'],
    sg_event_id: '01a20a70-0000-7000-8000-0000000000ff',
    sg_message_id: messageId,
  };
  const reader = { useragent: 'Mozilla/5.0', ip: '198.51.100.0' };
  const rows: [WebhookEvent['kind'], object][] = [
    ['accepted', { event: 'processed' }],
    ['delivered', { event: 'delivered', response: '250 2.0.0 OK' }],
    ['deferred', { event: 'deferred', response: '450 4.7.1 Later', attempt: '3' }],
    ['delayed', { event: 'deferred', response: 'Still trying', attempt: '1' }],
    [
      'bounced',
      {
        event: 'bounce',
        reason: reply,
        status: '5.1.1',
        type: 'bounce',
        bounce_classification: 'Invalid Address',
      },
    ],
    [
      'expired',
      {
        event: 'bounce',
        reason: 'no attempt succeeded within 48 hours',
        status: '',
        type: 'blocked',
        bounce_classification: 'Unclassified',
      },
    ],
    ['failed', { event: 'dropped', reason: 'an internal error' }],
    ['complained', { event: 'spamreport' }],
    ['unsubscribed', { event: 'unsubscribe' }],
    ['opened', { event: 'open', sg_machine_open: false, ...reader }],
    ['clicked', { event: 'click', url: '', ...reader }],
  ];
  for (const [kind, members] of rows)
    assert.deepEqual(describe('sendgrid', kind), [{ ...about, ...members }]);
  const [open] = describe('sendgrid', 'opened', {
    detail: { ...browser, class: 'scanner' },
  }) as unknown as object[];
  assert.equal((open as { sg_machine_open: boolean }).sg_machine_open, true);
});

test('Mailgun: event-data of each event', () => {
  const headers = {
    to: 'ada@customer.example',
    from: 'Shop <hello@shop.example>',
    subject: 'Your order',
    'message-id': `${messageId}@shop.example`,
  };
  const about = {
    id: '01a20a70-0000-7000-8000-0000000000ff',
    timestamp: at.getTime() / 1_000,
    recipient: 'ada@customer.example',
    'recipient-domain': 'customer.example',
    tags: ['orders'],
    'user-variables': { order: 'A-1001', event: 'mine' },
    campaigns: [],
    flags: { 'is-routed': false, 'is-authenticated': true, 'is-test-mode': false },
    envelope: {
      sender: 'hello@shop.example',
      targets: 'ada@customer.example',
      transport: 'smtp',
    },
    message: { headers },
  };
  const status = (code: number, message: string, attempt: number, enhanced?: string) => ({
    'delivery-status': {
      code,
      message,
      description: '',
      'attempt-no': attempt,
      ...(enhanced !== undefined && { 'enhanced-code': enhanced, 'mx-host': 'mx.test' }),
    },
  });
  const reader = {
    ip: '198.51.100.0',
    'client-info': { 'user-agent': 'Mozilla/5.0', 'device-type': 'unknown', bot: '' },
  };
  const rows: [WebhookEvent['kind'], object][] = [
    ['accepted', { event: 'accepted', 'log-level': 'info' }],
    [
      'delivered',
      { event: 'delivered', 'log-level': 'info', ...status(250, '250 2.0.0 OK', 1, '2.0.0') },
    ],
    [
      'deferred',
      {
        event: 'failed',
        'log-level': 'warn',
        severity: 'temporary',
        reason: 'generic',
        ...status(450, '450 4.7.1 Later', 3, '4.7.1'),
      },
    ],
    [
      'bounced',
      {
        event: 'failed',
        'log-level': 'error',
        severity: 'permanent',
        reason: 'bounce',
        ...status(550, reply, 1, '5.1.1'),
      },
    ],
    [
      'expired',
      {
        event: 'failed',
        'log-level': 'error',
        severity: 'permanent',
        reason: 'old',
        ...status(0, 'no attempt succeeded within 48 hours', 12),
      },
    ],
    [
      'failed',
      {
        event: 'rejected',
        'log-level': 'error',
        reject: { reason: 'an internal error', description: '' },
      },
    ],
    ['complained', { event: 'complained', 'log-level': 'warn' }],
    ['unsubscribed', { event: 'unsubscribed', 'log-level': 'info' }],
    ['opened', { event: 'opened', 'log-level': 'info', ...reader }],
    ['clicked', { event: 'clicked', 'log-level': 'info', url: '', ...reader }],
  ];
  for (const [kind, members] of rows)
    assert.deepEqual(describe('mailgun', kind), { 'event-data': { ...about, ...members } });
});

test('Amazon SES: the events that it publishes, without the notification of SNS', () => {
  const mail = {
    timestamp: acceptedAt,
    messageId,
    source: 'hello@shop.example',
    destination: ['ada@customer.example'],
    headersTruncated: false,
    headers: [],
    commonHeaders: {
      from: ['Shop <hello@shop.example>'],
      to: ['ada@customer.example'],
      subject: 'Your order',
      messageId: `${messageId}@shop.example`,
    },
    tags: { order: ['A-1001'], event: ['mine'] },
  };
  const timestamp = at.toISOString();
  const emailAddress = 'ada@customer.example';
  const feedbackId = '01a20a70-0000-7000-8000-0000000000ff';
  const reader = { timestamp, ipAddress: '198.51.100.0', userAgent: 'Mozilla/5.0' };
  const rows: [WebhookEvent['kind'], object][] = [
    ['accepted', { eventType: 'Send', send: {} }],
    [
      'delivered',
      {
        eventType: 'Delivery',
        delivery: {
          timestamp,
          processingTimeMillis: at.getTime() - Date.parse(acceptedAt),
          recipients: [emailAddress],
          smtpResponse: '250 2.0.0 OK',
        },
      },
    ],
    [
      'deferred',
      {
        eventType: 'DeliveryDelay',
        deliveryDelay: {
          timestamp,
          delayType: 'General',
          delayedRecipients: [
            { emailAddress, status: '4.7.1', diagnosticCode: 'smtp; 450 4.7.1 Later' },
          ],
        },
      },
    ],
    [
      'bounced',
      {
        eventType: 'Bounce',
        bounce: {
          bounceType: 'Permanent',
          bounceSubType: 'General',
          bouncedRecipients: [
            { emailAddress, action: 'failed', status: '5.1.1', diagnosticCode: `smtp; ${reply}` },
          ],
          timestamp,
          feedbackId,
        },
      },
    ],
    [
      'complained',
      {
        eventType: 'Complaint',
        complaint: {
          complainedRecipients: [{ emailAddress }],
          timestamp,
          feedbackId,
          complaintFeedbackType: 'abuse',
        },
      },
    ],
    ['failed', { eventType: 'Reject', reject: { reason: 'an internal error' } }],
    [
      'unsubscribed',
      {
        eventType: 'Subscription',
        subscription: {
          contactList: '',
          timestamp,
          source: 'UnsubscribeHeader',
          newTopicPreferences: { unsubscribeAll: true, topicSubscriptionStatus: [] },
        },
      },
    ],
    ['opened', { eventType: 'Open', open: reader }],
    ['clicked', { eventType: 'Click', click: { ...reader, link: '', linkTags: null } }],
  ];
  for (const [kind, members] of rows) assert.deepEqual(describe('ses', kind), { mail, ...members });
  for (const [cause, subType] of [
    ['mailbox-full', 'MailboxFull'],
    ['size', 'MessageTooLarge'],
    ['content', 'ContentRejected'],
    ['policy', 'General'],
  ] as const) {
    const described = describe('ses', 'bounced', bounce(cause)).bounce as Record<string, unknown>;
    assert.deepEqual([described.bounceType, described.bounceSubType], ['Transient', subType]);
  }
});

test('reports of relays read what these formats tell of bounces and complaints', () => {
  const readers = {
    postmark: readPostmark,
    sendgrid: readSendgrid,
    mailgun: readMailgun,
    ses: readSes,
  };
  for (const [format, read] of Object.entries(readers))
    for (const kind of ['bounced', 'complained'] as const) {
      const body = describe(format as WebhookFormatName, kind);
      const [report, ...others] = read(JSON.parse(JSON.stringify(body)));
      assert.equal(others.length, 0);
      assert.deepEqual(
        [report?.kind, report?.recipient.address],
        [kind, 'ada@customer.example'],
        format,
      );
      if (kind === 'bounced')
        assert.deepEqual([report?.detail.cause, report?.detail.permanent], ['no-mailbox', true]);
    }
});

const timestamp = Math.floor(Date.now() / 1_000);

function signed(format: WebhookFormatName, secrets: readonly string[], kind = 'bounced' as const) {
  const body = JSON.stringify(describe(format, kind));
  return webhookFormats[format].sign({ id: 'event-1', timestamp, body }, secrets);
}

/** What Resend's SDK reads from a request, by the beginning of the headers' names. @throws if the signature is wrong */
function verify({ headers, body }: SignedWebhook, prefix: 'svix' | 'webhook', secret: string) {
  const [id = '', time = '', signature = ''] = ['id', 'timestamp', 'signature'].map(
    (name) => headers[`${prefix}-${name}`],
  );
  return new Resend('re_test').webhooks.verify({
    payload: body,
    headers: { id, timestamp: time, signature },
    webhookSecret: secret,
  });
}

test('Resend’s own SDK verifies its format, with the new and the old secret', () => {
  const secrets = [newWebhookSecret(), newWebhookSecret()] as const;
  const request = signed('resend', secrets);
  for (const secret of secrets)
    assert.deepEqual(verify(request, 'svix', secret), JSON.parse(request.body));
  assert.throws(() => verify(request, 'svix', newWebhookSecret()));
  assert.throws(() => verify({ ...request, body: `${request.body} ` }, 'svix', secrets[0]));
  assert.equal(request.headers['svix-id'], 'event-1');
});

test('SendGrid’s signature is verified as its libraries do, with the public key of the secret', () => {
  const secret = newWebhookSecret();
  const { headers, body } = signed('sendgrid', [secret, newWebhookSecret()]);
  const key = sendgridPublicKey(secret);
  assert.equal(sendgridPublicKey(secret), key);
  assert.notEqual(sendgridPublicKey(newWebhookSecret()), key);
  const time = headers['x-twilio-email-event-webhook-timestamp'] ?? '';
  const signature = headers['x-twilio-email-event-webhook-signature'] ?? '';
  assert.ok(isFromSendgrid(body, time, signature, key));
  assert.ok(!isFromSendgrid(`${body} `, time, signature, key));
  assert.ok(!isFromSendgrid(body, `${time}0`, signature, key));
  assert.equal(headers['webhook-id'], 'event-1');
});

test('Mailgun’s signature is in the body, with a token that no other request has', () => {
  const secret = newWebhookSecret();
  const bodies = [1, 2].map(() => signed('mailgun', [secret]).body);
  const tokens = bodies.map((text) => {
    const body = JSON.parse(text);
    const { signature } = body;
    const wanted = createHmac('sha256', secret).update(signature.timestamp + signature.token);
    assert.equal(signature.signature, wanted.digest('hex'));
    assert.ok(isFromMailgun(body, secret, timestamp * 1_000));
    assert.ok(!isFromMailgun(body, newWebhookSecret(), timestamp * 1_000));
    assert.deepEqual(body['event-data'], describe('mailgun', 'bounced')['event-data']);
    return signature.token;
  });
  assert.notEqual(tokens[0], tokens[1]);
});

test('Amazon SES has our own signature, and Postmark Basic credentials', () => {
  const secrets = [newWebhookSecret(), newWebhookSecret()];
  const request = signed('ses', secrets);
  for (const secret of secrets)
    assert.deepEqual(verify(request, 'webhook', secret), JSON.parse(request.body));
  const credentials = newSecretOf('postmark', 'ann');
  assert.match(credentials, /^ann:[\w-]{32}$/);
  const basic = signed('postmark', [credentials]).headers.authorization ?? '';
  assert.equal(Buffer.from(basic.replace('Basic ', ''), 'base64').toString(), credentials);
});

test('formats tell no more than the endpoint can read, and nothing that is erased', () => {
  for (const format of webhookFormatNames)
    for (const kind of webhookKinds.filter((each) => hasEvent(format, each))) {
      const status = asReadableBy(
        { permissions: new Set(['messages:status']) },
        eventOf(kind, { templateId: null }),
      );
      const limited = JSON.stringify(describeIn(format, status));
      assert.doesNotMatch(limited, /A-1001|orders|shop\.example|Your order/, `${format} ${kind}`);
      const none = asReadableBy({ permissions: new Set() }, status);
      const blind = JSON.stringify(describeIn(format, none));
      assert.doesNotMatch(blind, /ada@|customer\.example/, `${format} ${kind}`);
      const erased = { address: null, attributes: null, envelope: null, tag: null };
      const gone = JSON.stringify(describeIn(format, eventOf(kind, erased)));
      assert.doesNotMatch(gone, /undefined|NaN|null@/, `${format} ${kind}`);
    }
});
