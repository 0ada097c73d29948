import { Fault } from '../foundation/errors.ts';
import type { AccountId, MessageId, TemplateId } from '../foundation/ids.ts';
import type { TraceSpan } from '../foundation/tracing/tracing.ts';
import { errorCatalog } from '../http/error-catalog.ts';

/** What the span of an acceptance says about the message. */
export interface AcceptedMessage {
  readonly messageId: MessageId;
  readonly templateId: TemplateId | string;
}

/**
 * Accepts a message in a span of its own, because a request can have many. Later spans of the message link to it.
 * @param request span of the request
 * @param accept gets the span
 */
export async function traceAccept<Result>(
  request: TraceSpan,
  accountId: AccountId,
  accept: (span: TraceSpan) => Promise<Result>,
  describe: (result: Result) => AcceptedMessage,
): Promise<Result> {
  const span = request.startChild('accept', 'producer', {
    'messaging.system': 'signalpost',
    'messaging.operation.name': 'accept',
    'messaging.operation.type': 'create',
    'signalpost.account.id': accountId,
  });
  try {
    const result = await accept(span);
    const { messageId, templateId } = describe(result);
    span.set({ 'messaging.message.id': messageId, 'signalpost.template.id': templateId });
    return result;
  } catch (error) {
    refuse(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Only errors of the service count as failures. */
function refuse(span: TraceSpan, error: unknown): void {
  const code = error instanceof Fault ? error.code : 'INTERNAL_ERROR';
  if (errorCatalog[code].status >= 500) span.fail(code);
  else span.set({ 'error.type': code });
}
