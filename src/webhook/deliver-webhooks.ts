import type { Clock } from '../foundation/clock.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, MessageId } from '../foundation/ids.ts';
import type { PublicNetworks } from '../foundation/network/public-networks.ts';
import { eventKinds } from '../message/event-kinds.ts';
import {
  claimPending,
  type PendingDelivery,
  recordDeliveryAttempt,
  releaseClaims,
} from './delivery-store.ts';
import { pauseEndpoint, readSendableEndpoint, recordEndpointHealth } from './endpoint-store.ts';
import { postWebhook } from './post-webhook.ts';
import type { SecretBox } from './secret-box.ts';
import { signWebhook } from './sign-webhook.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** An event is tried for so long; an endpoint that failed for so long is paused. */
const maxFailureMs = 3 * dayMs;

export interface DeliverWebhooksDependencies {
  readonly database: Database;
  readonly box: SecretBox;
  readonly networks: PublicNetworks;
  readonly clock: Clock;
}

/** A job: the events of one message that wait for one endpoint. */
export interface WebhookJob {
  readonly accountId: AccountId;
  readonly endpointId: string;
  readonly messageId: MessageId;
}

/**
 * Delivers what waits for an endpoint of one message, one after the other. Nothing is sent before what comes before it.
 * @throws where an event was not taken, so that the job comes again later
 */
export async function deliverWebhooks(
  dependencies: DeliverWebhooksDependencies,
  job: WebhookJob,
): Promise<void> {
  const { kysely } = dependencies.database;
  const { accountId, endpointId, messageId } = job;
  for (;;) {
    const claimed = await claimPending(kysely, accountId, endpointId, messageId);
    if (claimed.length === 0) return;
    let next: NextStep = 'go on';
    try {
      for (const delivery of claimed) {
        next = await deliverOne(dependencies, job, delivery);
        if (next !== 'go on') break;
      }
    } finally {
      await releaseClaims(kysely, accountId, endpointId, claimed);
    }
    if (next === 'leave') return;
    // A job that was made by a resumption meanwhile found all of it claimed and ended.
    if (next === 'paused' && (await isPaused(dependencies, job))) return;
  }
}

/** Whether the next event may follow, the endpoint takes nothing now, or somebody else goes on. */
type NextStep = 'go on' | 'paused' | 'leave';

/** True also where the endpoint is gone. */
async function isPaused(
  { database, box }: DeliverWebhooksDependencies,
  { accountId, endpointId }: WebhookJob,
): Promise<boolean> {
  const endpoint = await readSendableEndpoint(database.kysely, box, accountId, endpointId);
  return endpoint === undefined || endpoint.paused;
}

/**
 * @returns `paused` where the endpoint takes nothing now: its events wait for it to be resumed, which makes jobs anew; `leave`
 *   where the claim is another job's by now
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
  const request = bodyOf(delivery, messageId);
  const timestamp = Math.floor(clock.now() / 1_000);
  const headers = signWebhook(delivery.eventId, timestamp, request, endpoint.secrets);
  const { status, text } = await postWebhook(endpoint.url, headers, request, dependencies.networks);
  const succeeded = status >= 200 && status < 300;
  const tooOld = !succeeded && delivery.age > maxFailureMs;
  const state = succeeded ? 'delivered' : tooOld ? 'failed' : 'pending';
  const { eventId, claim } = delivery;
  const key = { accountId, endpointId, eventId, claim };
  const stillClaimed = await recordDeliveryAttempt(kysely, key, {
    state,
    status,
    request,
    answer: text,
  });
  await recordEndpointHealth(kysely, accountId, endpointId, succeeded);
  // Another job delivers what comes now, in its order.
  if (!stillClaimed) return 'leave';
  if (succeeded) return 'go on';
  const failedLong =
    endpoint.failingSince !== null && clock.now() - endpoint.failingSince.getTime() > maxFailureMs;
  // RFC 9110 section 15.5.11: 410 says that nobody wants this any more.
  if (status === 410 || failedLong) {
    const reason = status === 410 ? 'it answered 410 Gone' : 'it took nothing for 3 days';
    await pauseEndpoint(kysely, accountId, endpointId, reason);
    return 'paused';
  }
  if (!tooOld) throw new Error(status === 0 ? `no answer: ${text}` : `answered ${status}`);
  return 'go on';
}

/** The body (Standard Webhooks: type, timestamp, data). */
function bodyOf(delivery: PendingDelivery, messageId: MessageId): string {
  return JSON.stringify({
    type: eventKinds[delivery.kind].webhook,
    timestamp: delivery.at.toISOString(),
    data: {
      eventId: delivery.eventId,
      messageId,
      externalId: delivery.externalId,
      templateId: delivery.templateId,
      tag: delivery.tag,
      recipient: delivery.recipient,
      address: delivery.address,
      detail: delivery.detail,
    },
  });
}
