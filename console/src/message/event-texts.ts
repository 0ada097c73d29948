import type { Message, Webhook } from '../api/management.generated.ts';
import { repliesTexts } from '../texts/en/replies.en.ts';
import { addTexts, type TextKey, textOr } from '../texts/text.ts';

addTexts({ en: repliesTexts });

/** An event kind that webhooks can receive. */
type WebhookKind = Webhook['kinds'][number];

/** An event kind in the timeline of a message or in webhooks. */
type EventKind = Message['events'][number]['kind'] | WebhookKind;

/** In display order. */
const webhookTexts: Readonly<Record<WebhookKind, TextKey>> = {
  accepted: 'event.accepted',
  delivered: 'state.delivered',
  deferred: 'state.deferred',
  delayed: 'event.delayed',
  bounced: 'state.bounced',
  expired: 'state.expired',
  failed: 'state.failed',
  uncertain: 'state.uncertain',
  canceled: 'state.canceled',
  opened: 'state.opened',
  clicked: 'state.clicked',
  replied: 'event.replied',
  complained: 'state.complained',
  unsubscribed: 'state.unsubscribed',
  'link-scanned': 'event.link-scanned',
  'link-confirmed': 'event.link-confirmed',
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
  'move-asked': 'event.move-asked',
  'links-revoked': 'event.links-revoked',
  'version-kept': 'event.version-kept',
};

export const shownWebhookKinds = Object.keys(webhookTexts) as WebhookKind[];

/** The name of an event kind; the kind itself if this page is older than the service and has no name for it. */
export function eventName(kind: EventKind): string {
  return textOr(eventTexts[kind], kind);
}
