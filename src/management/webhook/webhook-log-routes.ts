import { Type } from 'typebox';
import { Nullable, strict, Time, TimeOrDay, Uuid } from '../../foundation/common-schemas.ts';
import { webhookKinds } from '../../message/event-kinds.ts';
import { readLog } from '../../webhook/delivery-store.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, toPage } from '../answer/page.ts';
import { invalidField } from '../answer/problem.ts';
import { readTime } from '../answer/read-time.ts';
import { accountOf, defineOperation } from '../operation.ts';
import { recordAudit } from '../save-resource.ts';
import { requireWebhook } from './manage-webhooks-routes.ts';

const states = ['pending', 'delivered', 'failed'] as const;

const DeliveryView = Type.Object(
  {
    eventId: Uuid,
    messageId: Uuid,
    kind: Type.Enum(webhookKinds),
    at: Time('When the event occurred.'),
    state: Type.Enum([...states]),
    attempts: Type.Integer(),
    lastAt: Nullable(Time('When it was last attempted.')),
    lastStatus: Nullable(Type.Integer({ description: 'HTTP status; 0 if there was no response.' })),
    lastRequest: Nullable(Type.String()),
    lastAnswer: Nullable(Type.String()),
  },
  { ...strict, title: 'WebhookDelivery' },
);

export const listWebhookDeliveries = defineOperation({
  id: 'listWebhookDeliveries',
  summary: 'List webhook deliveries, newest first',
  query: pageQuery({ state: Type.Optional(Type.Enum([...states])) }),
  answer: pageOf(DeliveryView),
  async handle(call) {
    await requireWebhook(call);
    const limit = pageSizeOf(call.query);
    const [before] = readCursor(call.query, 'integer') ?? [];
    const { kysely } = call.dependencies.database;
    const rows = await readLog(kysely, accountOf(call).id, call.params.webhookId, {
      state: call.query.state,
      before,
      limit: limit + 1,
    });
    return toPage(
      rows,
      limit,
      ({ place: _, ...row }) => row,
      ({ place }) => [place],
    );
  },
});

export const replayWebhook = defineOperation({
  id: 'replayWebhook',
  summary: 'Replay webhook events',
  description: 'Redelivers one event, or all events of a time range.',
  body: Type.Object(
    {
      eventId: Type.Optional(Uuid),
      from: Type.Optional(TimeOrDay('Events at or after this time.')),
      until: Type.Optional(TimeOrDay('Events before this time.')),
    },
    strict,
  ),
  answer: Type.Object(
    { events: Type.Integer({ description: 'Number of events to redeliver.' }) },
    { ...strict, title: 'WebhookReplay' },
  ),
  status: 202,
  async handle(call) {
    await requireWebhook(call);
    const { webhookId } = call.params;
    const events = await call.dependencies.webhooks.replay(
      accountOf(call).id,
      webhookId,
      readReplayRange(call.body),
      (transaction, count) =>
        recordAudit(call, transaction, 'webhook_replayed', webhookId, { events: count }),
    );
    return { events };
  },
});

function readReplayRange(body: { eventId?: string; from?: string; until?: string }) {
  const { eventId, from, until } = body;
  if (eventId !== undefined) {
    if (from !== undefined || until !== undefined)
      throw invalidField('eventId', 'can’t be combined with from or until');
    return { eventId };
  }
  if (from === undefined || until === undefined)
    throw invalidField('eventId', 'is required unless you set both from and until');
  return { from: readTime('from', from), until: readTime('until', until) };
}
