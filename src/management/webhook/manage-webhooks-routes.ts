import { isIP } from 'node:net';
import { type Static, Type } from 'typebox';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import { webhookKinds } from '../../message/event-kinds.ts';
import {
  addEndpoint,
  changeEndpoint,
  listEndpoints,
  pauseEndpoint,
  removeEndpoint,
  rotateEndpointSecret,
  type WebhookEndpoint,
} from '../../webhook/endpoint-store.ts';
import { Nullable, strict, Time, Uuid } from '../answer/common-schemas.ts';
import { pageOf } from '../answer/page.ts';
import { invalidField, notFound } from '../answer/problem.ts';
import {
  inTransaction,
  recordAudit,
  removeResource,
  requireResource,
  saveResource,
} from '../change-resource.ts';
import { accountOf, defineOperation, type OperationCall, type Wire } from '../operation.ts';

const WebhookView = Type.Object(
  {
    id: Uuid,
    url: Type.String(),
    kinds: Type.Array(Type.Enum([...webhookKinds])),
    failingSince: Nullable(Time('Since when no request succeeded.')),
    pausedAt: Nullable(Time('Since when its events wait.')),
    pausedReason: Nullable(Type.String()),
    previousUntil: Nullable(Time('Until when the secret before the present one signs too.')),
    createdAt: Time('When it was made.'),
  },
  { ...strict, title: 'Webhook' },
);

const WebhookSettings = Type.Object(
  {
    url: Type.String({ description: 'Where events are posted: https.', maxLength: 2_000 }),
    kinds: Type.Array(Type.Enum([...webhookKinds]), {
      description: 'What it is told of.',
      minItems: 1,
      maxItems: webhookKinds.length,
      uniqueItems: true,
    }),
  },
  strict,
);

const SecretView = Type.Object(
  { id: Uuid, secret: Type.String({ description: 'Signs the requests. Shown this once.' }) },
  { ...strict, title: 'WebhookSecret' },
);

function viewWebhook(webhook: WebhookEndpoint): Wire<Static<typeof WebhookView>> {
  return { ...webhook, kinds: [...webhook.kinds] };
}

function webhookChange(call: OperationCall) {
  const { webhookId } = call.params;
  return {
    kind: 'webhook',
    id: webhookId,
    async read(transaction: DatabaseTransaction) {
      const all = await listEndpoints(transaction, accountOf(call).id);
      const found = all.find(({ id }) => id === webhookId);
      return found && viewWebhook(found);
    },
  };
}

/** @throws Problem where the account has no such webhook */
export function requireWebhook(call: OperationCall): Promise<Wire<Static<typeof WebhookView>>> {
  return requireResource(call, webhookChange(call));
}

/** What a name leads to is looked at with each request; an address, and a name of this machine, can be judged now. */
function checkUrl(call: OperationCall, text: string): void {
  const { networks } = call.dependencies.webhooks;
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw invalidField('url', 'must be an https address');
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    throw invalidField('url', 'must have neither credentials nor a fragment');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const trusted = networks.isTrusted(host);
  if (isIP(host) === 0 ? !networks.allowsName(host) : !networks.allows(host))
    throw invalidField('url', 'leads into a network that is not public');
  if (url.protocol === 'http:' && !trusted) throw invalidField('url', 'must be https');
}

export const listWebhooks = defineOperation({
  id: 'listWebhooks',
  summary: 'List the webhooks of an account',
  answer: pageOf(WebhookView),
  async handle(call) {
    const all = await listEndpoints(call.dependencies.database.kysely, accountOf(call).id);
    return { items: all.map(viewWebhook), nextCursor: null };
  },
});

export const getWebhook = defineOperation({
  id: 'getWebhook',
  summary: 'Read a webhook',
  answer: WebhookView,
  handle: requireWebhook,
});

export const createWebhook = defineOperation({
  id: 'createWebhook',
  summary: 'Add a webhook; its secret is shown once',
  body: WebhookSettings,
  answer: SecretView,
  status: 201,
  async handle(call) {
    checkUrl(call, call.body.url);
    return inTransaction(call, async (transaction) => {
      const { box } = call.dependencies.webhooks;
      const made = await addEndpoint(transaction, box, accountOf(call).id, call.body);
      await recordAudit(call, transaction, 'webhook_created', made.id);
      return made;
    });
  },
});

export const putWebhook = defineOperation({
  id: 'putWebhook',
  summary: 'Change where a webhook is and what it is told of',
  body: WebhookSettings,
  answer: WebhookView,
  conditional: true,
  async handle(call) {
    checkUrl(call, call.body.url);
    return saveResource(call, {
      ...webhookChange(call),
      async write(transaction) {
        const { id } = accountOf(call);
        if (!(await changeEndpoint(transaction, id, call.params.webhookId, call.body)))
          throw notFound('webhook');
      },
    });
  },
});

export const deleteWebhook = defineOperation({
  id: 'deleteWebhook',
  summary: 'Remove a webhook and its log',
  conditional: true,
  handle: (call) =>
    removeResource(call, {
      ...webhookChange(call),
      async write(transaction) {
        await removeEndpoint(transaction, accountOf(call).id, call.params.webhookId);
      },
    }),
});

export const rotateWebhookSecret = defineOperation({
  id: 'rotateWebhookSecret',
  summary: 'Make a new secret, which is shown once; for a day both sign',
  answer: SecretView,
  handle: (call) =>
    inTransaction(call, async (transaction) => {
      const { webhookId } = call.params;
      const { box } = call.dependencies.webhooks;
      const secret = await rotateEndpointSecret(transaction, box, accountOf(call).id, webhookId);
      if (secret === undefined) throw notFound('webhook');
      await recordAudit(call, transaction, 'webhook_secret_rotated', webhookId);
      return { id: webhookId, secret };
    }),
});

export const pauseWebhook = defineOperation({
  id: 'pauseWebhook',
  summary: 'Keep the events of a webhook until it is resumed',
  answer: WebhookView,
  async handle(call) {
    await requireWebhook(call);
    await inTransaction(call, async (transaction) => {
      const { webhookId } = call.params;
      if (await pauseEndpoint(transaction, accountOf(call).id, webhookId, 'paused by hand'))
        await recordAudit(call, transaction, 'webhook_paused', webhookId);
    });
    return requireWebhook(call);
  },
});

export const resumeWebhook = defineOperation({
  id: 'resumeWebhook',
  summary: 'Deliver what a paused webhook kept, and go on',
  answer: WebhookView,
  async handle(call) {
    const { webhookId } = call.params;
    const { id } = accountOf(call);
    const resumed = await call.dependencies.webhooks.resume(id, webhookId, (transaction) =>
      recordAudit(call, transaction, 'webhook_resumed', webhookId),
    );
    if (!resumed) throw notFound('webhook');
    return requireWebhook(call);
  },
});
