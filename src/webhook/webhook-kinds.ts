/** Events an endpoint can subscribe to. On the wire they are named like `message.delivered`. */
export const webhookKinds = [
  'accepted',
  'deferred',
  'delivered',
  'bounced',
  'failed',
  'expired',
  'canceled',
  'uncertain',
  'delayed',
  'opened',
  'clicked',
  'complained',
  'unsubscribed',
] as const;

export type WebhookKind = (typeof webhookKinds)[number];
