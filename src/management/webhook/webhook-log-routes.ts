import { Type } from 'typebox';
import { Nullable, StringMap, strict, Time, Uuid } from '../../foundation/common-schemas.ts';
import { webhookKinds } from '../../message/event-kinds.ts';
import { readDelivery, readLog } from '../../webhook/delivery-store.ts';
import { describeEvent } from '../../webhook/describe-event.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, toPage } from '../answer/page.ts';
import { notFound } from '../answer/problem.ts';
import { accountOf, defineOperation } from '../operation.ts';
import { DeliveryStateView, requireWebhook } from './manage-webhooks-routes.ts';

const members = {
  eventId: Uuid,
  messageId: Uuid,
  kind: Type.Enum(webhookKinds),
  at: Time('When the event occurred.'),
  address: Nullable(
    Type.String({
      description: 'The recipient, or To for an event of the message; null once erased.',
    }),
  ),
  state: DeliveryStateView,
  attempts: Type.Integer(),
  lastAt: Nullable(Time('When it was last attempted.')),
  lastStatus: Nullable(Type.Integer({ description: 'HTTP status; 0 if there was no response.' })),
  lastRequest: Nullable(Type.String()),
  lastAnswer: Nullable(Type.String()),
  nextAt: Nullable(Time('When the next attempt is due; null if there is none.')),
};

const DeliveryView = Type.Object(members, { ...strict, title: 'WebhookDelivery' });

/** A request to an endpoint and its response. */
export const exchangeMembers = {
  status: Type.Integer({ description: 'HTTP status; 0 if there was no response.' }),
  durationMs: Type.Integer({ description: 'Milliseconds until the end of the response.' }),
  requestHeaders: StringMap('Headers of the request.'),
  responseHeaders: StringMap('Headers of the response, without cookies.'),
  answer: Type.String({
    description: 'The first 1,000 characters of the response, or why there was none.',
  }),
};

const DeliveryDetailView = Type.Object(
  {
    ...members,
    request: Type.String({ description: 'The body last sent, or else the one to be sent.' }),
    tries: Type.Array(
      Type.Object({ at: Time('When it ended.'), ...exchangeMembers }, { ...strict, title: 'Try' }),
      { description: 'The latest attempts, newest first. Removed with personal data.' },
    ),
  },
  { ...strict, title: 'WebhookDeliveryDetail' },
);

export const listWebhookDeliveries = defineOperation({
  id: 'listWebhookDeliveries',
  summary: 'List webhook deliveries, newest first',
  query: pageQuery({
    state: Type.Optional(DeliveryStateView),
    messageId: Type.Optional(
      Type.String({ format: 'uuid', maxLength: 36, description: 'Only events of this message.' }),
    ),
  }),
  answer: pageOf(DeliveryView),
  async handle(call) {
    await requireWebhook(call);
    const limit = pageSizeOf(call.query);
    const [before] = readCursor(call.query, 'integer') ?? [];
    const { state, messageId } = call.query;
    const { kysely } = call.dependencies.database;
    const rows = await readLog(kysely, accountOf(call).id, call.params.webhookId, {
      state,
      messageId,
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

export const getWebhookDelivery = defineOperation({
  id: 'getWebhookDelivery',
  summary: 'Get a webhook delivery with its attempts',
  answer: DeliveryDetailView,
  async handle(call) {
    const { kysely } = call.dependencies.database;
    const { webhookId, eventId } = call.params;
    const found = await readDelivery(kysely, accountOf(call).id, webhookId, eventId);
    if (found === undefined) throw notFound('webhook delivery');
    const { event, place: _, tries, ...entry } = found;
    const request = entry.lastRequest ?? JSON.stringify(describeEvent(event));
    return { ...entry, request, tries: [...tries] };
  },
});
