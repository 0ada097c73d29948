import { type Static, Type } from 'typebox';
import { Limiter } from '../../../base/fairness/limiter.ts';
import { policies } from '../../../base/fairness/policies.ts';
import {
  NamedObject,
  Nullable,
  OptionalText,
  PartialObject,
  StrictObject,
  StringMap,
  Text,
  Time,
  TimeOrDay,
  Uuid,
  Whole,
} from '../../../base/values/common-schemas.ts';
import { webhookKinds } from '../../../content/message/event-kinds.ts';
import { readDelivery, readLog } from '../../../outcomes/webhook/delivery-store.ts';
import { maxCountedWaiting, readReplays } from '../../../outcomes/webhook/replay-store.ts';
import { describeIn, hasEvent } from '../../../outcomes/webhook/webhook-formats.ts';
import { defineList, definePages } from '../answer/list-operations.ts';
import { conflict, invalidField, notFound, Problem } from '../answer/problem.ts';
import { readTime } from '../answer/read-query.ts';
import { defineOperation } from '../operation.ts';
import { recordAudit } from '../save-resource.ts';
import { DeliveryStateView, requireWebhook } from './manage-webhooks-routes.ts';

const members = {
  eventId: Uuid,
  messageId: Uuid,
  kind: Type.Enum(webhookKinds),
  at: Time('When the event occurred.'),
  address: Nullable(Text('The recipient, or To for an event of the message; null once erased.')),
  state: DeliveryStateView,
  attempts: Type.Integer(),
  lastAt: Nullable(Time('When it was last attempted.')),
  lastStatus: Nullable(Whole('HTTP status; 0 if there was no response.')),
  lastRequest: Nullable(Type.String()),
  lastAnswer: Nullable(Type.String()),
  nextAt: Nullable(Time('When the next attempt is due; null if there is none.')),
};

const DeliveryView = NamedObject('WebhookDelivery', members);

/** A request to an endpoint and its response. */
const exchangeMembers = {
  status: Whole('HTTP status; 0 if there was no response.'),
  durationMs: Whole('Milliseconds until the end of the response.'),
  requestHeaders: StringMap('Headers of the request.'),
  responseHeaders: StringMap('Headers of the response, without cookies.'),
  answer: Text('The first 1,000 characters of the response, or why there was none.'),
};

const DeliveryDetailView = NamedObject('WebhookDeliveryDetail', {
  ...members,
  request: Text('The body last sent, or else the one to be sent.'),
  tries: Type.Array(NamedObject('Try', { at: Time('When it ended.'), ...exchangeMembers }), {
    description: 'The latest attempts, newest first. Removed with personal data.',
  }),
});

export const listWebhookDeliveries = definePages({
  id: 'listWebhookDeliveries',
  summary: 'List webhook deliveries, newest first',
  filters: {
    state: Type.Optional(DeliveryStateView),
    messageId: OptionalText('Only events of this message.', { format: 'uuid', maxLength: 36 }),
  },
  item: DeliveryView,
  cursor: ['integer'],
  async read(call, { after, limit }) {
    await requireWebhook(call);
    const { accountId, webhookId } = call.params;
    const { state, messageId } = call.query;
    const page = { state, messageId, before: after?.[0], limit };
    return readLog(call.kysely, accountId, webhookId, page);
  },
  view: ({ place: _, ...row }) => row,
  place: ({ place }) => [place],
});

export const getWebhookDelivery = defineOperation({
  id: 'getWebhookDelivery',
  summary: 'Get a webhook delivery with its attempts',
  answer: DeliveryDetailView,
  async handle(call) {
    const { kysely } = call;
    const { webhookId, eventId } = call.params;
    const found = await readDelivery(kysely, call.params.accountId, webhookId, eventId);
    if (found === undefined) throw notFound('webhook delivery');
    const { event, format, place: _, tries, ...entry } = found;
    const next = hasEvent(format, event.kind) ? JSON.stringify(describeIn(format, event)) : '';
    const request = entry.lastRequest ?? next;
    return { ...entry, request, tries: [...tries] };
  },
});

const selectable = Type.Enum(['delivered', 'failed']);

const ReplayBody = PartialObject({
  eventId: Uuid,
  from: TimeOrDay('Events at or after this time.'),
  until: TimeOrDay('Events before this time.'),
  state: Type.Enum(['delivered', 'failed'], {
    description: 'With a period: only events in this state.',
  }),
});

export const replayWebhook = defineOperation({
  id: 'replayWebhook',
  summary: 'Replay webhook events',
  description:
    'Redelivers one event, or those of a period in the background; `listWebhookReplays` has the progress. A webhook replays one period at a time.',
  body: ReplayBody,
  answer: NamedObject('WebhookReplayStart', {
    events: Nullable(Whole('Number of events to redeliver; null for a period.')),
    replayId: Nullable(Text('The replay of a period.', { format: 'uuid' })),
  }),
  status: 202,
  async handle(call) {
    const { id: webhookId } = await requireWebhook(call);
    const { webhooks } = call.dependencies;
    const { accountId: id } = call.params;
    const which = readSelection(call.body);
    if ('eventId' in which) {
      const events = await webhooks.replayEvent(
        id,
        webhookId,
        which.eventId,
        (transaction, count) =>
          recordAudit(call, transaction, 'webhook_replayed', webhookId, { events: count }),
      );
      return { events, replayId: null };
    }
    const replayId = await webhooks.replayPeriod(id, webhookId, which, (transaction) =>
      recordAudit(call, transaction, 'webhook_replayed', webhookId, {
        from: which.from.toISOString(),
        until: which.until.toISOString(),
      }),
    );
    if (replayId === undefined)
      throw conflict('A replay of this webhook is running. Retry when it completes');
    return { events: null, replayId };
  },
});

function readSelection({ eventId, from, until, state }: Static<typeof ReplayBody>) {
  if (eventId !== undefined) {
    if (from !== undefined || until !== undefined || state !== undefined)
      throw invalidField('eventId', 'can’t be combined with from, until or state');
    return { eventId };
  }
  if (from === undefined || until === undefined)
    throw invalidField('eventId', 'is required unless you set both from and until');
  const range = { from: readTime('from', from), until: readTime('until', until), state };
  if (range.from >= range.until) throw invalidField('until', 'must be after from');
  return range;
}

const ReplayView = NamedObject('WebhookReplay', {
  id: Uuid,
  from: Time('Start of the period.'),
  until: Time('End of the period.'),
  state: Nullable(selectable),
  events: Whole('Events selected so far.'),
  waiting: Whole(
    `Of these, how many still wait to be delivered. Counted among the first ${maxCountedWaiting.toLocaleString('en')} events that wait.`,
  ),
  createdAt: Time('When it was started.'),
  selectedAt: Nullable(Time('When all events of the period were selected.')),
});

export const listWebhookReplays = defineList({
  id: 'listWebhookReplays',
  summary: 'List the latest replays of periods, newest first',
  item: ReplayView,
  async read(call) {
    const { id } = await requireWebhook(call);
    return readReplays(call.kysely, call.params.accountId, id);
  },
});

/** Each can take as long as an endpoint's timeout. */
const slots = new Limiter(policies.webhookTests);

export const testWebhook = defineOperation({
  id: 'testWebhook',
  summary: 'Send a test event',
  description:
    'Posts a sample event of a kind, signed like real ones and with `"test": true`, and waits for the response. It isn’t logged or retried, and also works while the webhook is paused.',
  body: StrictObject({ kind: Type.Enum([...webhookKinds]) }),
  answer: NamedObject('WebhookTest', {
    eventId: Uuid,
    request: Text('The body of the request.'),
    ...exchangeMembers,
  }),
  longLived: true,
  limited: true,
  async handle(call) {
    const { accountId: id } = call.params;
    const holding = slots.tryAcquire(id);
    if (holding === undefined)
      throw new Problem(
        'too-many-requests',
        'Your account has too many test events in progress. Retry when one completes',
        { retryAfter: 5 },
      );
    try {
      const { webhooks } = call.dependencies;
      const result = await webhooks.sendTest(id, call.params.webhookId, call.body.kind);
      if (result === undefined) throw notFound('webhook');
      if (result === 'unknown') throw invalidField('kind', 'has no name in the webhook’s format');
      const { eventId, request, exchange } = result;
      const { text: answer, ...rest } = exchange;
      return { eventId, request, answer, ...rest };
    } finally {
      holding.release();
    }
  },
});
