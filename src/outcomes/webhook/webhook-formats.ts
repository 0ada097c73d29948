import { randomBytes } from 'node:crypto';
import { eventKinds, type WebhookKind, webhookKinds } from '../../content/message/event-kinds.ts';
import { describeEvent } from './describe-event.ts';
import { mailgunWebhook } from './mailgun-webhook.ts';
import { postmarkWebhook } from './postmark-webhook.ts';
import { resendWebhook } from './resend-webhook.ts';
import { sendgridPublicKey, sendgridWebhook } from './sendgrid-webhook.ts';
import { sesWebhook } from './ses-webhook.ts';
import { newWebhookSecret, signWebhook } from './sign-webhook.ts';
import type { WebhookFormat } from './webhook-format.ts';

/** Our own format: Standard Webhooks 1.0. */
const signalpostWebhook: WebhookFormat = {
  names: Object.fromEntries(
    webhookKinds.map((kind) => [kind, eventKinds[kind].webhook]),
  ) as WebhookFormat['names'],
  describe: describeEvent,
  signsTwice: true,
  sign: ({ id, timestamp, body }, secrets) => ({
    body,
    headers: signWebhook(id, timestamp, body, secrets),
  }),
};

/** The formats that an endpoint can choose from. */
export const webhookFormats = {
  signalpost: signalpostWebhook,
  resend: resendWebhook,
  postmark: postmarkWebhook,
  sendgrid: sendgridWebhook,
  mailgun: mailgunWebhook,
  ses: sesWebhook,
} as const satisfies Readonly<Record<string, WebhookFormat>>;

export type WebhookFormatName = keyof typeof webhookFormats;
export const webhookFormatNames = Object.keys(webhookFormats) as WebhookFormatName[];

/** Whether a format has a name for a kind of event. */
export function hasEvent(format: WebhookFormatName, kind: WebhookKind): boolean {
  return webhookFormats[format].names[kind] !== null;
}

/** A new secret: credentials for Basic authentication in Postmark's format, otherwise as Standard Webhooks has it. */
export function newSecretOf(format: WebhookFormatName, user = 'signalpost'): string {
  if (format !== 'postmark') return newWebhookSecret();
  return `${user}:${randomBytes(24).toString('base64url')}`;
}

/** What the receiver needs of a secret, which can't be shown again: SendGrid's receivers have the public key only. */
export function shownSecret(format: WebhookFormatName, secret: string): string {
  return format === 'sendgrid' ? sendgridPublicKey(secret) : secret;
}
