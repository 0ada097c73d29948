import { readReply } from '../feedback/reply/reply-store.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, MessageId } from '../foundation/ids.ts';
import type { PublicNetworks } from '../foundation/network/public-networks.ts';
import type { Tracing } from '../foundation/tracing/tracing.ts';
import type { AttachmentStore } from '../message/attachment-store.ts';
import {
  claimPending,
  type PendingDelivery,
  recordDeliveryAttempt,
  releaseClaims,
} from './delivery-store.ts';
import { describeEvent } from './describe-event.ts';
import { describeReply, maxReplyBodyBytes } from './describe-reply.ts';
import {
  pauseEndpoint,
  readSendableEndpoint,
  recordEndpointHealth,
  type SendableEndpoint,
} from './endpoint-store.ts';
import { postWebhook } from './post-webhook.ts';
import type { SecretBox } from './secret-box.ts';
import { signWebhook } from './sign-webhook.ts';
import { traceWebhook } from './trace-webhook.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** How long an event is retried, and how long an endpoint may fail before it is paused. */
const maxFailureMs = 3 * dayMs;

export interface DeliverWebhooksDependencies {
  readonly database: Database;
  readonly box: SecretBox;
  readonly networks: PublicNetworks;
  readonly clock: Clock;
  /** Has the parts of replies. */
  readonly attachments: Pick<AttachmentStore, 'read'>;
  /** The public URL, without a trailing slash. */
  readonly publicUrl: () => string;
  /** Undefined: requests aren't traced. */
  readonly tracing?: Tracing | undefined;
}

/** A job: one message's pending events for one endpoint. */
export interface WebhookJob {
  readonly accountId: AccountId;
  readonly endpointId: string;
  readonly messageId: MessageId;
}

/**
 * Delivers one message's pending events to an endpoint, strictly in order.
 * @throws if an event was not accepted or another job delivers them, so the job is retried later
 */
export async function deliverWebhooks(
  dependencies: DeliverWebhooksDependencies,
  job: WebhookJob,
): Promise<void> {
  const { kysely } = dependencies.database;
  const { accountId, endpointId, messageId } = job;
  for (;;) {
    const claimed = await claimPending(
      kysely,
      accountId,
      endpointId,
      messageId,
      dependencies.tracing !== undefined,
    );
    // If the job that holds it fails, its retries are left to this one.
    if (claimed === undefined) throw new Error('another job delivers events of the message');
    if (claimed.length === 0) return;
    let next: NextStep = 'continue';
    try {
      for (const delivery of claimed) {
        next = await deliverOne(dependencies, job, delivery);
        if (next !== 'continue') break;
      }
    } finally {
      await releaseClaims(kysely, accountId, endpointId, claimed);
    }
    if (next !== 'continue') return;
  }
}

/** The body with the reply of the event as `data.reply`; null if it was erased or the endpoint can't have it. */
async function addReply(
  { database, attachments, publicUrl }: DeliverWebhooksDependencies,
  accountId: AccountId,
  replyId: string,
  body: string,
  { permissions }: SendableEndpoint,
): Promise<string> {
  const stored = permissions.has('messages:read')
    ? await readReply(database.kysely, accountId, replyId)
    : undefined;
  const reply =
    stored === undefined || stored.content === null
      ? null
      : await describeReply(stored, {
          accountId,
          attachments,
          publicUrl: publicUrl(),
          maxBytes: maxReplyBodyBytes - Buffer.byteLength(body) - '"reply":,'.length,
        });
  const event = JSON.parse(body) as { data: object };
  return JSON.stringify({ ...event, data: { ...event.data, reply } });
}

type NextStep = 'continue' | 'paused' | 'claim lost';

/**
 * @returns `paused` if the endpoint is paused (resuming it creates new jobs), `claim lost` if another job now holds the
 *   claim
 */
async function deliverOne(
  dependencies: DeliverWebhooksDependencies,
  { accountId, endpointId, messageId }: WebhookJob,
  delivery: PendingDelivery,
): Promise<NextStep> {
  const { clock } = dependencies;
  const { kysely } = dependencies.database;
  const endpoint = await readSendableEndpoint(kysely, dependencies.box, accountId, endpointId);
  if (endpoint === undefined || endpoint.paused) return 'paused';
  // Only the endpoint gets the reply itself: who may read the log needn't be allowed to read messages.
  const logged = JSON.stringify(describeEvent({ ...delivery, messageId }));
  const request =
    delivery.kind === 'replied'
      ? await addReply(dependencies, accountId, delivery.eventId, logged, endpoint)
      : logged;
  const timestamp = Math.floor(clock.now() / 1_000);
  const headers = signWebhook(delivery.eventId, timestamp, request, endpoint.secrets);
  const exchange = await traceWebhook(
    dependencies.tracing,
    { ...delivery, accountId, messageId, url: endpoint.url },
    (context) =>
      postWebhook(endpoint.url, { ...headers, ...context }, request, dependencies.networks),
  );
  const { status, text } = exchange;
  const succeeded = status >= 200 && status < 300;
  const tooOld = !succeeded && delivery.age > maxFailureMs;
  const state = succeeded ? 'delivered' : tooOld ? 'failed' : 'pending';
  const { eventId, claim } = delivery;
  const key = { accountId, endpointId, eventId, claim };
  const stillClaimed = await recordDeliveryAttempt(kysely, key, {
    state,
    request: logged,
    exchange,
  });
  await recordEndpointHealth(kysely, accountId, endpointId, succeeded);
  // Another job now delivers the rest, in order.
  if (!stillClaimed) return 'claim lost';
  if (succeeded) return 'continue';
  const failedTooLong =
    endpoint.failingSince !== null && clock.now() - endpoint.failingSince.getTime() > maxFailureMs;
  // RFC 9110 section 15.5.11: 410 means the endpoint is permanently gone.
  if (status === 410 || failedTooLong) {
    const reason = status === 410 ? 'it returned 410 Gone' : 'requests failed for 3 days';
    await pauseEndpoint(kysely, accountId, endpointId, reason);
    return 'paused';
  }
  if (!tooOld) throw new Error(status === 0 ? `no response: ${text}` : `status ${status}`);
  return 'continue';
}
