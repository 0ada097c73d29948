import { readReply } from '../feedback/reply/reply-store.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { HostNames } from '../foundation/dns/host-names.ts';
import type { AccountId } from '../foundation/ids.ts';
import type { PublicNetworks } from '../foundation/network/public-networks.ts';
import type { Tracing } from '../foundation/tracing/tracing.ts';
import type { AttachmentStore } from '../message/attachment-store.ts';
import {
  type AttemptEnd,
  type LeasedDeliveries,
  type PendingDelivery,
  parkAfter,
  parkDelivery,
  recordDeliveryAttempt,
  releaseLease,
} from './delivery-store.ts';
import { asReadableBy, describeEvent } from './describe-event.ts';
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
  readonly hostNames: HostNames;
  readonly clock: Clock;
  /** Has the parts of replies. */
  readonly attachments: Pick<AttachmentStore, 'read'>;
  /** The public URL, without a trailing slash. */
  readonly publicUrl: () => string;
  /** Undefined: requests aren't traced. */
  readonly tracing?: Tracing | undefined;
}

/** Of a lease, for a request and recording its result; the rest is released. */
const minLeaseLeftMs = 20_000;

/**
 * Delivers leased events to their endpoint, strictly in order, until one is to be tried again or the lease is about to end.
 * @param stopping ends it after the current event
 */
export async function deliverWebhooks(
  dependencies: DeliverWebhooksDependencies,
  lease: LeasedDeliveries,
  stopping: AbortSignal,
): Promise<void> {
  const { kysely } = dependencies.database;
  let next: NextStep = 'continue';
  try {
    for (const delivery of lease.events) {
      if (stopping.aborted || performance.now() > lease.endsAt - minLeaseLeftMs) next = 'release';
      else if (lease.orphaned >= parkAfter) await parkDelivery(kysely, lease, delivery.eventId);
      else next = await deliverOne(dependencies, lease, delivery);
      if (next !== 'continue') break;
    }
  } catch (error) {
    next = 'release';
    throw error;
  } finally {
    if (next === 'release') await releaseLease(kysely, lease);
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

/** `ended`: the lease has ended, with a retry or because someone else has the events. */
type NextStep = 'continue' | 'release' | 'ended';

async function deliverOne(
  dependencies: DeliverWebhooksDependencies,
  lease: LeasedDeliveries,
  delivery: PendingDelivery,
): Promise<NextStep> {
  const { clock, networks, hostNames } = dependencies;
  const { kysely } = dependencies.database;
  const { accountId, endpointId, messageId } = lease;
  const endpoint = await readSendableEndpoint(kysely, dependencies.box, accountId, endpointId);
  if (endpoint === undefined || endpoint.paused) return 'release';
  // Only the endpoint gets the reply itself: who may read the log needn't be allowed to read messages.
  const logged = JSON.stringify(describeEvent({ ...asReadableBy(endpoint, delivery), messageId }));
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
      postWebhook(endpoint.url, { ...headers, ...context }, request, networks, hostNames),
  );
  const { status } = exchange;
  const succeeded = status >= 200 && status < 300;
  // RFC 9110 section 15.5.11: 410 means the endpoint is permanently gone.
  const isGone = status === 410;
  const tooOld = !succeeded && delivery.age > maxFailureMs;
  const end: AttemptEnd =
    succeeded || tooOld
      ? { state: succeeded ? 'delivered' : 'failed' }
      : { state: 'pending', retryMs: isGone ? 0 : retryDelayMs(delivery) };
  const attempt = { request: logged, exchange };
  const { eventId } = delivery;
  const isOwn = await recordDeliveryAttempt(kysely, lease, eventId, end, attempt);
  await recordEndpointHealth(kysely, accountId, endpointId, succeeded);
  const failedTooLong =
    endpoint.failingSince !== null && clock.now() - endpoint.failingSince.getTime() > maxFailureMs;
  if (!succeeded && isOwn && (isGone || failedTooLong)) {
    const reason = isGone ? 'it returned 410 Gone' : 'requests failed for 3 days';
    await pauseEndpoint(kysely, accountId, endpointId, reason);
    return 'release';
  }
  return isOwn && end.state !== 'pending' ? 'continue' : 'ended';
}

const maxRetryMs = 22_000_000;

/**
 * Time until an event is tried again: e seconds, then e times as long after each attempt, up to about 6 hours. After a replay or a
 * pause, it begins anew, because it isn't longer than the event has been due.
 */
function retryDelayMs({ attempts, age }: Pick<PendingDelivery, 'attempts' | 'age'>): number {
  const byAttempts = 1_000 * Math.exp(attempts + 1);
  const byAge = 1_000 * Math.E + (Math.E - 1) * age;
  return Math.min(byAttempts, byAge, maxRetryMs);
}
