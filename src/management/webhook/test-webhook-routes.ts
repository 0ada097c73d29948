import { Type } from 'typebox';
import { strict, Uuid } from '../../foundation/common-schemas.ts';
import { Limiter } from '../../foundation/limiter.ts';
import { policies } from '../../foundation/policies.ts';
import { webhookKinds } from '../../message/event-kinds.ts';
import { notFound, Problem } from '../answer/problem.ts';
import { accountOf, defineOperation } from '../operation.ts';
import { exchangeMembers } from './webhook-log-routes.ts';

/** Each can take as long as an endpoint's timeout. */
const slots = new Limiter(policies.webhookTests);

export const testWebhook = defineOperation({
  id: 'testWebhook',
  summary: 'Send a test event',
  description:
    'Posts a sample event of a kind, signed like real ones and with `"test": true`, and waits for the response. It isn’t logged or retried, and also works while the webhook is paused.',
  body: Type.Object({ kind: Type.Enum([...webhookKinds]) }, strict),
  answer: Type.Object(
    {
      eventId: Uuid,
      request: Type.String({ description: 'The body of the request.' }),
      ...exchangeMembers,
    },
    { ...strict, title: 'WebhookTest' },
  ),
  longLived: true,
  limited: true,
  async handle(call) {
    const { id } = accountOf(call);
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
      const { eventId, request, exchange } = result;
      const { text: answer, ...rest } = exchange;
      return { eventId, request, answer, ...rest };
    } finally {
      holding.release();
    }
  },
});
