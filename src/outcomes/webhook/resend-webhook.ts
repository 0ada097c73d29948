import { signWebhook } from './sign-webhook.ts';
import {
  messageOf,
  readerOf,
  serverReply,
  sesBounce,
  type WebhookFormat,
} from './webhook-format.ts';

/** Resend's format (resend.com/docs/webhooks/emails), signed with the headers of Svix. */
export const resendWebhook: WebhookFormat = {
  names: {
    accepted: 'email.sent',
    delivered: 'email.delivered',
    bounced: 'email.bounced',
    deferred: 'email.delivery_delayed',
    expired: 'email.bounced',
    failed: 'email.failed',
    uncertain: null,
    canceled: null,
    delayed: 'email.delivery_delayed',
    complained: 'email.complained',
    unsubscribed: null,
    replied: null,
    opened: 'email.opened',
    clicked: 'email.clicked',
  },
  describe(event) {
    const { kind, at, messageId, templateId, attributes, envelope } = event;
    const { acceptedAt, headerId, from, to, subject } = messageOf(event);
    const isScheduled = kind === 'accepted' && (envelope?.sendAt ?? null) !== null;
    const { text } = serverReply(event);
    const { ip: ipAddress, userAgent } = readerOf(event);
    return {
      type: isScheduled ? 'email.scheduled' : resendWebhook.names[kind],
      created_at: at.toISOString(),
      data: {
        created_at: acceptedAt.toISOString(),
        email_id: messageId,
        message_id: headerId === '' ? '' : `<${headerId}>`,
        from,
        to,
        subject,
        ...(templateId !== null && { template_id: templateId }),
        tags: attributes ?? {},
        ...((kind === 'bounced' || kind === 'expired') && {
          bounce: { message: text, ...sesBounce(event) },
        }),
        ...(kind === 'failed' && { failed: { reason: text } }),
        ...(kind === 'clicked' && {
          click: { ipAddress, link: '', timestamp: at.toISOString(), userAgent },
        }),
      },
    };
  },
  signsTwice: true,
  sign: ({ id, timestamp, body }, secrets) => ({
    body,
    headers: signWebhook(id, timestamp, body, secrets, 'svix'),
  }),
};
