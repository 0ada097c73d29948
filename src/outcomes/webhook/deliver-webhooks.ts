import type { Database } from '../../base/database/open-database.ts';
import type { HostNames } from '../../base/dns/host-names.ts';
import type { PublicNetworks } from '../../base/network/public-networks.ts';
import { readTraceContext, type TraceContext } from '../../base/telemetry/trace-context.ts';
import type { Tracing } from '../../base/telemetry/tracing.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { AccountId, MessageId } from '../../base/values/ids.ts';
import type { AttachmentStore } from '../../content/message/attachment-store.ts';
import { readReply } from '../reply/reply-store.ts';
import {
  type AttemptEnd,
  type DeliveryAttempt,
  type LeasedDeliveries,
  type PendingDelivery,
  parkAfter,
  parkDelivery,
  recordDeliveryAttempts,
  releaseLease,
} from './delivery-store.ts';
import { asReadableBy, withReply } from './describe-event.ts';
import { describeReply, maxReplyBodyBytes } from './describe-reply.ts';
import { pauseEndpoint, readSendableEndpoint, type SendableEndpoint } from './endpoint-store.ts';
import { isSuccess, postWebhook, WebhookConnection, type WebhookExchange } from './post-webhook.ts';
import type { SecretBox } from './secret-box.ts';
import { describeIn, hasEvent, webhookFormats } from './webhook-formats.ts';

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

/** Requests to an endpoint at the same time, for each lease. */
export const lanesPerLease = 4;

/**
 * Delivers leased events to their endpoint, those of each message strictly in order until one is to be tried again. Ends when the
 * endpoint is paused or the lease is about to end.
 * @param stopping ends it after the current events
 * @returns how long a request took, in milliseconds; undefined without a request
 */
export async function deliverWebhooks(
  dependencies: DeliverWebhooksDependencies,
  lease: LeasedDeliveries,
  stopping: AbortSignal,
): Promise<number | undefined> {
  const {
    box,
    database: { followKysely: kysely },
  } = dependencies;
  const { accountId, endpointId, messages } = lease;
  const left = new Set(messages.flatMap((events) => events.map(({ eventId }) => eventId)));
  const durations: number[] = [];
  const waiting = messages.values();
  let isOver = false;
  const work = async (results: ReturnType<typeof recordTogether>): Promise<void> => {
    // A TLS handshake for each request would take longer than the request.
    using connection = new WebhookConnection();
    for (const events of waiting)
      for (const delivery of events) {
        const { endpoint } = results;
        isOver ||= stopping.aborted || performance.now() > lease.endsAt - minLeaseLeftMs;
        if (isOver || endpoint === undefined || endpoint.paused) return;
        const { eventId } = delivery;
        const parked = whyParked(lease, delivery, endpoint);
        if (parked !== undefined) {
          await parkDelivery(kysely, lease, eventId, parked);
          left.delete(eventId);
          continue;
        }
        const attempt = await tryDelivery(dependencies, lease, delivery, endpoint, connection);
        durations.push(attempt.exchange.durationMs);
        // Other requests would get the same answer until the pause is recorded.
        if (attempt.exchange.status === gone) isOver = true;
        const isOwn = await results.record(attempt);
        if (isOwn && (await pauseIfBroken(dependencies, lease, attempt, endpoint))) isOver = true;
        if (isOwn && attempt.end.state !== 'pending') left.delete(eventId);
        else {
          // What follows waits with it, or someone else has it.
          for (const each of events) left.delete(each.eventId);
          break;
        }
      }
  };
  try {
    const endpoint = await readSendableEndpoint(kysely, box, accountId, endpointId);
    const results = recordTogether({ kysely, box }, lease, endpoint);
    const lanes = await Promise.allSettled(
      Array.from({ length: Math.min(lanesPerLease, messages.length) }, async () => {
        await work(results).catch((error: unknown) => {
          isOver = true;
          throw error;
        });
      }),
    );
    for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason;
  } finally {
    if (left.size > 0) await releaseLease(kysely, lease, [...left]);
  }
  const sum = durations.reduce((total, duration) => total + duration, 0);
  return durations.length === 0 ? undefined : sum / durations.length;
}

/** Why an event is given up before it is sent; undefined if it isn't. */
function whyParked(
  { orphaned }: LeasedDeliveries,
  { kind }: PendingDelivery,
  { format }: SendableEndpoint,
): string | undefined {
  if (orphaned >= parkAfter) return `the process that sent it ended ${orphaned} times`;
  return hasEvent(format, kind) ? undefined : `the format ${format} has no such event`;
}

/** Records what ends while attempts are recorded in the next statement, all at once. */
function recordTogether(
  stores: Parameters<typeof recordDeliveryAttempts>[0],
  lease: LeasedDeliveries,
  first: SendableEndpoint | undefined,
) {
  let next: DeliveryAttempt[] = [];
  let last: Promise<unknown> = Promise.resolve();
  let writing: Promise<ReadonlySet<string>> | undefined;
  const recorder = {
    /** As of the last record; undefined if there is none. */
    endpoint: first,
    /** @returns false if someone else has leased the event since */
    async record(attempt: DeliveryAttempt): Promise<boolean> {
      next.push(attempt);
      if (writing === undefined) {
        writing = last.then(write);
        last = writing.catch(() => undefined);
      }
      return (await writing).has(attempt.eventId);
    },
  };
  const write = async (): Promise<ReadonlySet<string>> => {
    const attempts = next;
    next = [];
    writing = undefined;
    const { own, endpoint } = await recordDeliveryAttempts(stores, lease, attempts);
    recorder.endpoint = endpoint;
    return own;
  };
  return recorder;
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
  return JSON.stringify(withReply(JSON.parse(body) as object, reply));
}

async function tryDelivery(
  dependencies: DeliverWebhooksDependencies,
  { accountId }: LeasedDeliveries,
  delivery: PendingDelivery,
  endpoint: SendableEndpoint,
  connection: WebhookConnection,
): Promise<DeliveryAttempt> {
  const { clock, networks, hostNames } = dependencies;
  const { eventId, messageId } = delivery;
  // Only the endpoint gets the reply itself: who may read the log needn't be allowed to read messages.
  const logged = JSON.stringify(describeIn(endpoint.format, asReadableBy(endpoint, delivery)));
  const body =
    delivery.kind === 'replied'
      ? await addReply(dependencies, accountId, eventId, logged, endpoint)
      : logged;
  const timestamp = Math.floor(clock.now() / 1_000);
  const { sign } = webhookFormats[endpoint.format];
  const signed = sign({ id: eventId, timestamp, body }, endpoint.secrets);
  const exchange = await traceWebhook(
    dependencies.tracing,
    { ...delivery, accountId, url: endpoint.url },
    (context) =>
      postWebhook(
        endpoint.url,
        { ...signed.headers, ...context },
        signed.body,
        networks,
        hostNames,
        connection,
      ),
  );
  const succeeded = isSuccess(exchange.status);
  const tooOld = !succeeded && delivery.age > maxFailureMs;
  const end: AttemptEnd =
    succeeded || tooOld
      ? { state: succeeded ? 'delivered' : 'failed' }
      : { state: 'pending', retryMs: exchange.status === gone ? 0 : retryDelayMs(delivery) };
  return { eventId, messageId, end, request: logged, exchange };
}

/** RFC 9110 section 15.5.11: the endpoint is permanently gone. */
const gone = 410;

/** @param endpoint as it was before the attempt @returns true if it is paused now */
async function pauseIfBroken(
  { clock, database: { kysely } }: DeliverWebhooksDependencies,
  { accountId, endpointId }: LeasedDeliveries,
  { exchange: { status } }: DeliveryAttempt,
  { failingSince }: SendableEndpoint,
): Promise<boolean> {
  if (isSuccess(status)) return false;
  const failedTooLong =
    failingSince !== null && clock.now() - failingSince.getTime() > maxFailureMs;
  if (status !== gone && !failedTooLong) return false;
  const reason = status === gone ? 'it returned 410 Gone' : 'requests failed for 3 days';
  await pauseEndpoint(kysely, accountId, endpointId, reason);
  return true;
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

/** One request to an endpoint. */
interface TracedWebhook extends Pick<PendingDelivery, 'eventId' | 'kind' | 'attempts' | 'trace'> {
  readonly accountId: AccountId;
  readonly messageId: MessageId;
  readonly url: string;
}

/**
 * Posts an event of a traced message in a span that links to the message's acceptance. Of the URL, only the host is recorded:
 * its path and query can hold secrets.
 * @param post gets the headers that continue the trace at the endpoint
 */
async function traceWebhook(
  tracing: Tracing | undefined,
  webhook: TracedWebhook,
  post: (context: Partial<TraceContext>) => Promise<WebhookExchange>,
): Promise<WebhookExchange> {
  const accepted = tracing && readTraceContext(webhook.trace);
  const span =
    accepted && tracing?.startLinked(accepted, 'POST', 'client', describeWebhook(webhook));
  if (span === undefined) return post({});
  try {
    const exchange = await post(span.context);
    const { status } = exchange;
    if (status !== 0) span.set({ 'http.response.status_code': status });
    if (!isSuccess(status)) span.fail(status === 0 ? 'no_response' : String(status));
    return exchange;
  } finally {
    span.end();
  }
}

function describeWebhook({ url, accountId, messageId, eventId, kind, attempts }: TracedWebhook) {
  const target = URL.parse(url);
  return {
    'http.request.method': 'POST',
    'server.address': target?.hostname,
    'server.port': Number(target?.port || (target?.protocol === 'http:' ? 80 : 443)),
    ...(attempts > 0 && { 'http.request.resend_count': attempts }),
    'messaging.message.id': messageId,
    'signalpost.account.id': accountId,
    'signalpost.event.id': eventId,
    'signalpost.event.kind': kind,
  };
}
