import { createHmac, randomBytes } from 'node:crypto';
import type { WebhookFacts, WebhookFormat } from './webhook-format.ts';

const describeStatus = ({ code, text: message, attempt, status, detail }: WebhookFacts) => ({
  'delivery-status': {
    code,
    message,
    description: '',
    'attempt-no': attempt,
    ...(status !== '' && { 'enhanced-code': status }),
    ...(typeof detail.server === 'string' && { 'mx-host': detail.server }),
  },
});

const describeFailure = (severity: 'temporary' | 'permanent', reason: string) => {
  const level = severity === 'temporary' ? 'warn' : 'error';
  const about = { 'log-level': level, severity, reason };
  return (facts: WebhookFacts) => ({ ...about, ...describeStatus(facts) });
};

const describeReader = ({ ip, userAgent, isPerson }: WebhookFacts) => {
  const bot = isPerson ? '' : 'generic';
  return { ip, 'client-info': { 'user-agent': userAgent, 'device-type': 'unknown', bot } };
};

const flags = { 'is-routed': false, 'is-authenticated': true, 'is-test-mode': false };

/** Mailgun's format (documentation.mailgun.com, webhook payloads), whose body contains its signature: HMAC with SHA-256. */
export const mailgunWebhook: WebhookFormat = {
  events: {
    accepted: ['accepted'],
    delivered: ['delivered', describeStatus],
    bounced: ['failed', describeFailure('permanent', 'bounce')],
    deferred: ['failed', describeFailure('temporary', 'generic')],
    expired: ['failed', describeFailure('permanent', 'old')],
    failed: [
      'rejected',
      ({ text: reason }) => ({ 'log-level': 'error', reject: { reason, description: '' } }),
    ],
    delayed: ['failed', describeFailure('temporary', 'generic')],
    complained: ['complained', () => ({ 'log-level': 'warn' })],
    unsubscribed: ['unsubscribed'],
    opened: ['opened', describeReader],
    clicked: ['clicked', (facts) => ({ url: '', ...describeReader(facts) })],
  },
  describe(name, { email, from, subject, tag, headerId, ...facts }, members) {
    const headers = { to: email, from, subject, 'message-id': headerId };
    const data = {
      event: name,
      id: facts.eventId,
      timestamp: facts.at.getTime() / 1_000,
      'log-level': 'info',
      recipient: email,
      'recipient-domain': email.slice(email.lastIndexOf('@') + 1),
      tags: tag === null ? [] : [tag],
      'user-variables': facts.tags,
      campaigns: [],
      flags,
      envelope: { sender: facts.fromAddress, targets: email, transport: 'smtp' },
      message: { headers },
      ...members,
    };
    return { 'event-data': data };
  },
  signsTwice: false,
  sign({ id, timestamp, body }, [secret = '']) {
    const token = randomBytes(25).toString('hex');
    const hash = createHmac('sha256', secret).update(timestamp + token);
    const signature = { timestamp: String(timestamp), token, signature: hash.digest('hex') };
    const signed = JSON.stringify({ signature, ...(JSON.parse(body) as object) });
    return { body: signed, headers: { 'webhook-id': id } };
  },
};
