import { isIP } from 'node:net';
import { type Static, Type } from 'typebox';
import { accountLimits } from '../../../accounts/account/account-limits.ts';
import {
  DescribedObject,
  NamedObject,
  Nullable,
  optional,
  StrictObject,
  Text,
  Time,
  Uuid,
  Whole,
} from '../../../base/values/common-schemas.ts';
import { webhookKinds } from '../../../content/message/event-kinds.ts';
import {
  addEndpoint,
  changeEndpoint,
  type EndpointSettings,
  type EndpointWithKey,
  listEndpoints,
  pauseEndpoint,
  readEndpoint,
  removeEndpoint,
  rotateEndpointSecret,
  type WebhookEndpoint,
} from '../../../outcomes/webhook/endpoint-store.ts';
import { hasEvent, webhookFormatNames } from '../../../outcomes/webhook/webhook-formats.ts';
import { actorPermissions } from '../access/admit-actor.ts';
import { defineList } from '../answer/list-operations.ts';
import { conflict, invalidField, notFound } from '../answer/problem.ts';
import { actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { resourceOf, resourceRoutes } from '../resource-routes.ts';
import { inTransaction, recordAudit, requireResource } from '../save-resource.ts';

export const DeliveryStateView = Type.Enum(['pending', 'delivered', 'failed']);

const members = {
  id: Uuid,
  url: Type.String(),
  kinds: Type.Array(Type.Enum([...webhookKinds])),
  format: Type.Enum(webhookFormatNames, {
    description: 'Whose format and signature it has. Events without a name in it aren’t sent.',
  }),
  failingSince: Nullable(Time('When requests started failing.')),
  pausedAt: Nullable(Time('When it was paused. Events are kept until it resumes.')),
  pausedReason: Nullable(Type.String()),
  previousUntil: Nullable(Time('When the previous secret stops signing.')),
  createdAt: Time('When it was created.'),
};

const WebhookView = NamedObject('Webhook', {
  ...members,
  publicKey: Nullable(
    Text('Verifies the signatures of the format `sendgrid`: DER in base64. Null in any other.'),
  ),
});

const ListedWebhookView = NamedObject('ListedWebhook', {
  ...members,
  latest: Nullable(
    DescribedObject('Its newest event.', {
      at: Time('When it occurred.'),
      state: DeliveryStateView,
      status: Nullable(Whole('Of the last attempt; 0 if there was no response.')),
    }),
  ),
});

const WebhookSettings = StrictObject({
  url: Text('HTTPS URL that events are posted to.', {
    examples: ['https://shop.example/hooks/mail'],
    maxLength: 2_000,
  }),
  kinds: Type.Array(Type.Enum([...webhookKinds]), {
    description: 'Event kinds to deliver.',
    minItems: 1,
    maxItems: webhookKinds.length,
    uniqueItems: true,
  }),
  ...optional({
    format: Type.Enum(webhookFormatNames, {
      description:
        'Default: `signalpost`, or for an existing webhook, the one it has. Each kind needs a name in it.',
    }),
    credentials: Text(
      'For Basic authentication in the format `postmark`: `user:password`. Default: those it has, or for a new webhook or URL, new ones.',
      { pattern: '^[^:]+:.+$', maxLength: 200 },
    ),
  }),
});

const SecretView = NamedObject('WebhookSecret', {
  id: Uuid,
  secret: Text(
    'Signing secret, shown only once: the credentials of the format `postmark`, and the public key of `sendgrid`.',
  ),
});

const webhookChange = resourceOf({
  kind: 'webhook',
  unrecorded: ['url'],
  id: 'webhookId',
  mustExist: true,
  auditName: auditNameOf,
  read: (transaction, { params, dependencies }) =>
    readEndpoint(transaction, dependencies.webhooks.box, params.accountId, params.webhookId),
});

/** The URL without its query, which may have a secret. */
function auditNameOf({ url }: Pick<WebhookEndpoint, 'url'>): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

/** @throws Problem if the webhook doesn't exist */
export function requireWebhook(call: OperationCall): Promise<EndpointWithKey> {
  return requireResource(call, webhookChange(call));
}

const allowedNetworks = 'An operator can allow networks in the setting WEBHOOK_NETWORKS';

/** What the caller sets, with the caller's permissions. @throws Problem if events can't be posted to the URL */
async function readSettings(
  call: OperationCall<unknown, Static<typeof WebhookSettings>>,
): Promise<EndpointSettings> {
  checkUrl(call, call.body.url);
  const permissions = await actorPermissions(
    call.dependencies,
    actorOf(call),
    call.params.accountId,
  );
  return { ...call.body, permissions: permissions ?? new Set() };
}

/** @throws Problem if the format, which may stay as it was, doesn't have the other settings */
function checkFormat(settings: EndpointSettings, before?: Pick<WebhookEndpoint, 'format'>): void {
  const { kinds, credentials, format = before?.format ?? 'signalpost' } = settings;
  const unknown = kinds.filter((kind) => !hasEvent(format, kind));
  if (unknown.length > 0)
    throw invalidField('kinds', `can’t contain ${unknown.join(', ')} in the format ${format}`);
  if (credentials !== undefined && format !== 'postmark')
    throw invalidField('credentials', 'is only for the format postmark');
}

/** Host names are resolved and checked per request; IP addresses and local names can be rejected now. */
function checkUrl(call: OperationCall, text: string): void {
  const { networks } = call.dependencies.webhooks;
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw invalidField('url', 'must be an https URL');
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    throw invalidField('url', 'must not contain credentials or a fragment');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const trusted = networks.isTrusted(host);
  if (isIP(host) === 0 ? !networks.allowsName(host) : !networks.allows(host))
    throw invalidField('url', `is in a private network. ${allowedNetworks}`);
  if (url.protocol === 'http:' && !trusted)
    throw invalidField(
      'url',
      `must use https, except for addresses of allowed networks. ${allowedNetworks}`,
    );
}

export const listWebhooks = defineList({
  id: 'listWebhooks',
  summary: 'List webhooks, newest first',
  item: ListedWebhookView,
  read: ({ kysely, params }) => listEndpoints(kysely, params.accountId),
});

export const webhookRoutes = resourceRoutes({
  path: '/accounts/:accountId/webhooks/:webhookId',
  access: { read: 'webhooks:read', write: 'webhooks:write' },
  view: WebhookView,
  resource: webhookChange,
  get: { id: 'getWebhook', summary: 'Get a webhook' },
  put: {
    id: 'putWebhook',
    summary: 'Update a webhook',
    description: 'An omitted format stays as it is, and so do omitted credentials with their URL.',
    body: WebhookSettings,
    async write(call) {
      const settings = await readSettings(call);
      return (transaction, before) => {
        checkFormat(settings, before);
        const { accountId, webhookId } = call.params;
        const { box } = call.dependencies.webhooks;
        return changeEndpoint(transaction, box, accountId, webhookId, settings);
      };
    },
  },
  remove: {
    id: 'deleteWebhook',
    summary: 'Delete a webhook and its delivery log',
    write: (call) => (transaction) =>
      removeEndpoint(transaction, call.params.accountId, call.params.webhookId),
  },
});

export const createWebhook = defineOperation({
  id: 'createWebhook',
  summary: 'Create a webhook',
  body: WebhookSettings,
  answer: SecretView,
  status: 201,
  async handle(call) {
    const settings = await readSettings(call);
    checkFormat(settings);
    return inTransaction(call, async (transaction) => {
      const { box } = call.dependencies.webhooks;
      if (
        (await listEndpoints(transaction, call.params.accountId)).length >=
        accountLimits.webhooks.max
      )
        throw conflict(
          `An account can have ${accountLimits.webhooks.max} webhooks. Remove one that you no longer need`,
        );
      const created = await addEndpoint(transaction, box, call.params.accountId, settings);
      await recordAudit(call, transaction, 'webhook_created', created.id, {
        name: auditNameOf(call.body),
      });
      return created;
    });
  },
});

export const rotateWebhookSecret = defineOperation({
  id: 'rotateWebhookSecret',
  summary: 'Rotate the signing secret',
  description:
    'The new secret is shown once. For 24 hours, requests carry signatures of both secrets, so either verifies them; then the old one stops signing. Rotating again in that time ends the older secret. The formats `postmark`, `sendgrid` and `mailgun` have room for one, so the old one stops at once.',
  answer: SecretView,
  handle: (call) =>
    inTransaction(call, async (transaction) => {
      const { webhookId } = call.params;
      const { box } = call.dependencies.webhooks;
      const secret = await rotateEndpointSecret(transaction, box, call.params.accountId, webhookId);
      if (secret === undefined) throw notFound('webhook');
      const webhook = await webhookChange(call).read(transaction);
      await recordAudit(call, transaction, 'webhook_secret_rotated', webhookId, {
        ...(webhook && { name: auditNameOf(webhook) }),
      });
      return { id: webhookId, secret };
    }),
});

export const pauseWebhook = defineOperation({
  id: 'pauseWebhook',
  summary: 'Pause a webhook',
  description: 'Events are kept and delivered when you resume it.',
  answer: WebhookView,
  async handle(call) {
    const name = auditNameOf(await requireWebhook(call));
    await inTransaction(call, async (transaction) => {
      const { webhookId } = call.params;
      if (await pauseEndpoint(transaction, call.params.accountId, webhookId, 'paused manually'))
        await recordAudit(call, transaction, 'webhook_paused', webhookId, { name });
    });
    return requireWebhook(call);
  },
});

export const resumeWebhook = defineOperation({
  id: 'resumeWebhook',
  summary: 'Resume a webhook',
  description:
    'Delivers the events kept while it was paused. If it isn’t paused, retries its waiting events now.',
  answer: WebhookView,
  async handle(call) {
    const { accountId, webhookId } = call.params;
    const name = auditNameOf(await requireWebhook(call));
    const resumed = await call.dependencies.webhooks.resume(accountId, webhookId, (transaction) =>
      recordAudit(call, transaction, 'webhook_resumed', webhookId, { name }),
    );
    if (!resumed) throw notFound('webhook');
    return requireWebhook(call);
  },
});
