import type { TraceContext } from '../../base/telemetry/trace-context.ts';
import type { TraceSpan } from '../../base/telemetry/tracing.ts';
import { Fault } from '../../base/values/errors.ts';
import type { AccountId, MessageId } from '../../base/values/ids.ts';
import { errorCatalog } from '../../host/http/error-catalog.ts';

interface TracedMessage {
  readonly accountId: AccountId;
  readonly templateId: string;
}

/**
 * Accepts a message in a span of its own, because a request can have many. Later spans of the message link to it.
 * @param request span of the request; undefined: it isn't traced
 * @param accept gets the trace context of the span
 */
export function traceAccept<Result>(
  request: TraceSpan | undefined,
  message: TracedMessage,
  accept: (trace?: TraceContext) => Promise<Result>,
  messageIdOf: (result: Result) => MessageId,
): Promise<Result> {
  return request === undefined ? accept() : acceptInSpan(request, message, accept, messageIdOf);
}

async function acceptInSpan<Result>(
  request: TraceSpan,
  message: TracedMessage,
  accept: (trace: TraceContext) => Promise<Result>,
  messageIdOf: (result: Result) => MessageId,
): Promise<Result> {
  const span = request.startChild('accept', 'producer', {
    'messaging.system': 'signalpost',
    'messaging.operation.name': 'accept',
    'messaging.operation.type': 'create',
    'signalpost.account.id': message.accountId,
  });
  try {
    const result = await accept(span.context);
    span.set({
      'messaging.message.id': messageIdOf(result),
      'signalpost.template.id': message.templateId,
    });
    return result;
  } catch (error) {
    traceRefusal(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Only errors of the service count as failures. */
export function traceRefusal(span: TraceSpan, error: unknown): void {
  const code = error instanceof Fault ? error.code : 'INTERNAL_ERROR';
  if (errorCatalog[code].status >= 500) span.fail(code);
  else span.set({ 'error.type': code });
}
