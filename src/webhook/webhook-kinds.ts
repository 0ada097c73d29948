/** Events that an endpoint can ask for; a request names them as `message.delivered`. */
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
