import type { Message, Webhook } from '../api/management.generated.ts';
import { type TextKey, textOr } from '../texts/text.ts';

/** What webhooks can be told of. */
type WebhookKind = Webhook['kinds'][number];

/** What can happen to a message. */
type EventKind = Message['events'][number]['kind'] | WebhookKind;

/** In the order in which people choose from them. */
const webhookTexts: Readonly<Record<WebhookKind, TextKey>> = {
  accepted: 'webhooks.kind.accepted',
  delivered: 'state.delivered',
  deferred: 'state.deferred',
  delayed: 'webhooks.kind.delayed',
  bounced: 'state.bounced',
  expired: 'state.expired',
  failed: 'state.failed',
  uncertain: 'state.uncertain',
  canceled: 'state.canceled',
  opened: 'state.opened',
  clicked: 'state.clicked',
  complained: 'state.complained',
  unsubscribed: 'state.unsubscribed',
};

const eventTexts: Readonly<Record<EventKind, TextKey>> = {
  ...webhookTexts,
  suppressed: 'state.suppressed',
  redirected: 'event.redirected',
  warning: 'event.warning',
  'pause-asked': 'event.pause-asked',
  'resume-asked': 'event.resume-asked',
  'cancel-asked': 'event.cancel-asked',
  'retry-asked': 'event.retry-asked',
};

export const shownWebhookKinds = Object.keys(webhookTexts) as WebhookKind[];

/** What happened to a message, in words; the kind itself where a newer service knows one that this page does not. */
export function eventName(kind: EventKind): string {
  return textOr(eventTexts[kind], kind);
}
