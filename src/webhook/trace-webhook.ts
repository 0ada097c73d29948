import type { AccountId, MessageId } from '../foundation/ids.ts';
import { readTraceContext, type TraceContext } from '../foundation/tracing/trace-context.ts';
import type { Tracing } from '../foundation/tracing/tracing.ts';
import type { PendingDelivery } from './delivery-store.ts';
import { isSuccess, type WebhookExchange } from './post-webhook.ts';

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
export async function traceWebhook(
  tracing: Tracing | undefined,
  webhook: TracedWebhook,
  post: (context: Partial<TraceContext>) => Promise<WebhookExchange>,
): Promise<WebhookExchange> {
  const accepted = tracing && readTraceContext(webhook.trace);
  const span = accepted && tracing?.startLinked(accepted, 'POST', 'client', describe(webhook));
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

function describe({ url, accountId, messageId, eventId, kind, attempts }: TracedWebhook) {
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
