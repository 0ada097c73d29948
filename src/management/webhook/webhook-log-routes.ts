import { Type } from 'typebox';
import { readLog } from '../../webhook/delivery-store.ts';
import { limitOf, pageOf, pageQuery, readCursor, toPage } from '../answer/page.ts';
import { invalid } from '../answer/problem.ts';
import { readTime } from '../answer/read-time.ts';
import { Nullable, strict, Time, TimeOrDay, Uuid } from '../answer/schema-parts.ts';
import { record } from '../change-resource.ts';
import { accountOf, endpoint } from '../endpoint.ts';
import { requireWebhook } from './manage-webhooks-routes.ts';

const states = ['pending', 'delivered', 'failed'] as const;

const DeliveryView = Type.Object(
  {
    eventId: Uuid,
    messageId: Uuid,
    kind: Type.String(),
    at: Time('When it happened.'),
    state: Type.Enum([...states]),
    attempts: Type.Integer(),
    lastAt: Nullable(Time('When it was tried last.')),
    lastStatus: Nullable(Type.Integer({ description: '0: no answer came.' })),
    lastRequest: Nullable(Type.String()),
    lastAnswer: Nullable(Type.String()),
  },
  { ...strict, title: 'WebhookDelivery' },
);

export const listWebhookDeliveries = endpoint({
  id: 'listWebhookDeliveries',
  summary: 'Read the log of a webhook, newest first',
  query: pageQuery({ state: Type.Optional(Type.Enum([...states])) }),
  answer: pageOf(DeliveryView),
  async handle(call) {
    await requireWebhook(call);
    const limit = limitOf(call.query);
    const [before] = readCursor(call.query, 'integer') ?? [];
    const { kysely } = call.parts.database;
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

export const replayWebhook = endpoint({
  id: 'replayWebhook',
  summary: 'Deliver events again: one, or all of a time',
  body: Type.Object(
    {
      eventId: Type.Optional(Uuid),
      from: Type.Optional(TimeOrDay('Events of this time or later.')),
      until: Type.Optional(TimeOrDay('Events before this time.')),
    },
    strict,
  ),
  answer: Type.Object(
    { events: Type.Integer({ description: 'How many.' }) },
    { ...strict, title: 'WebhookReplay' },
  ),
  status: 202,
  async handle(call) {
    await requireWebhook(call);
    const { webhookId } = call.params;
    const events = await call.parts.webhooks.replay(
      accountOf(call).id,
      webhookId,
      chosen(call.body),
      (transaction, count) =>
        record(call, transaction, 'webhook_replayed', webhookId, { events: count }),
    );
    return { events };
  },
});

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function chosen(body: { eventId?: string; from?: string; until?: string }) {
  const { eventId, from, until } = body;
  if (eventId !== undefined) {
    if (from !== undefined || until !== undefined)
      throw invalid('eventId', 'cannot be used together with a time');
    if (!uuid.test(eventId)) throw invalid('eventId', 'is no UUID');
    return { eventId };
  }
  if (from === undefined || until === undefined)
    throw invalid('eventId', 'is missing; or give from and until');
  return { from: readTime('from', from), until: readTime('until', until) };
}
