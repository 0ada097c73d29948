import { Type } from 'typebox';
import { Nullable, strict, Time, TimeOrDay, Uuid } from '../../foundation/common-schemas.ts';
import { maxCountedWaiting, readReplays } from '../../webhook/replay-store.ts';
import { pageOf } from '../answer/page.ts';
import { invalidField, Problem } from '../answer/problem.ts';
import { readTime } from '../answer/read-time.ts';
import { accountOf, defineOperation } from '../operation.ts';
import { recordAudit } from '../save-resource.ts';
import { requireWebhook } from './manage-webhooks-routes.ts';

const selectable = Type.Enum(['delivered', 'failed']);

export const replayWebhook = defineOperation({
  id: 'replayWebhook',
  summary: 'Replay webhook events',
  description:
    'Redelivers one event, or those of a period in the background; `listWebhookReplays` has the progress. A webhook replays one period at a time.',
  body: Type.Object(
    {
      eventId: Type.Optional(Uuid),
      from: Type.Optional(TimeOrDay('Events at or after this time.')),
      until: Type.Optional(TimeOrDay('Events before this time.')),
      state: Type.Optional(
        Type.Enum(['delivered', 'failed'], {
          description: 'With a period: only events in this state.',
        }),
      ),
    },
    strict,
  ),
  answer: Type.Object(
    {
      events: Nullable(
        Type.Integer({ description: 'Number of events to redeliver; null for a period.' }),
      ),
      replayId: Nullable(Type.String({ format: 'uuid', description: 'The replay of a period.' })),
    },
    { ...strict, title: 'WebhookReplayStart' },
  ),
  status: 202,
  async handle(call) {
    const { id: webhookId } = await requireWebhook(call);
    const { webhooks } = call.dependencies;
    const { id } = accountOf(call);
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
      throw new Problem('conflict', 'A replay of this webhook is running. Retry when it completes');
    return { events: null, replayId };
  },
});

interface ReplayBody {
  readonly eventId?: string;
  readonly from?: string;
  readonly until?: string;
  readonly state?: 'delivered' | 'failed';
}

function readSelection({ eventId, from, until, state }: ReplayBody) {
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

const ReplayView = Type.Object(
  {
    id: Uuid,
    from: Time('Start of the period.'),
    until: Time('End of the period.'),
    state: Nullable(selectable),
    events: Type.Integer({ description: 'Events selected so far.' }),
    waiting: Type.Integer({
      description: `Of these, how many still wait to be delivered. Counted among the first ${maxCountedWaiting.toLocaleString('en')} events that wait.`,
    }),
    createdAt: Time('When it was started.'),
    selectedAt: Nullable(Time('When all events of the period were selected.')),
  },
  { ...strict, title: 'WebhookReplay' },
);

export const listWebhookReplays = defineOperation({
  id: 'listWebhookReplays',
  summary: 'List the latest replays of periods, newest first',
  answer: pageOf(ReplayView),
  async handle(call) {
    const { id: webhookId } = await requireWebhook(call);
    const { kysely } = call.dependencies.database;
    return { items: await readReplays(kysely, accountOf(call).id, webhookId), nextCursor: null };
  },
});
