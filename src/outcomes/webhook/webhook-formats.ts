import { randomBytes } from 'node:crypto';
import { eventKinds, type WebhookKind, webhookKinds } from '../../content/message/event-kinds.ts';
import { describeEvent } from './describe-event.ts';
import { mailgunWebhook } from './mailgun-webhook.ts';
import { postmarkWebhook } from './postmark-webhook.ts';
import { resendWebhook } from './resend-webhook.ts';
import { sendgridPublicKey, sendgridWebhook } from './sendgrid-webhook.ts';
import { sesWebhook } from './ses-webhook.ts';
import { newWebhookSecret, standardWebhooks } from './sign-webhook.ts';
import { factsOf, type WebhookEvent, type WebhookFormat } from './webhook-format.ts';

/** Our own format: Standard Webhooks 1.0. */
const signalpostWebhook: WebhookFormat = {
  events: Object.fromEntries(webhookKinds.map((kind) => [kind, [eventKinds[kind].webhook]])),
  describe: (_name, facts) => describeEvent(facts),
  ...standardWebhooks('webhook'),
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

/** Whether a format has a kind of event. */
export function hasEvent(name: WebhookFormatName, kind: WebhookKind): boolean {
  return webhookFormats[name].events[kind] !== undefined;
}

/** The body of an event. @throws if the format doesn't have its kind */
export function describeIn(name: WebhookFormatName, event: WebhookEvent): object {
  const format = webhookFormats[name];
  const described = format.events[event.kind];
  if (described === undefined) throw new Error(`the format ${name} has no ${event.kind}`);
  const [eventName, describe] = described;
  const facts = factsOf(event);
  return format.describe(eventName, facts, describe?.(facts) ?? {});
}

/** A new secret: credentials for Basic authentication in Postmark's format, otherwise as Standard Webhooks has it. */
export function newSecretOf(name: WebhookFormatName, user = 'signalpost'): string {
  if (name !== 'postmark') return newWebhookSecret();
  return `${user}:${randomBytes(24).toString('base64url')}`;
}

/** What the receiver needs of a secret, which can't be shown again: SendGrid's receivers have the public key only. */
export function shownSecret(name: WebhookFormatName, secret: string): string {
  return name === 'sendgrid' ? sendgridPublicKey(secret) : secret;
}
