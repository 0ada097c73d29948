import { Fault } from '../foundation/errors.ts';
import { isLostConnection } from '../foundation/network/lost-connection.ts';
import type { TraceSpan, Tracing } from '../foundation/tracing/tracing.ts';
import { errorCatalog } from '../http/error-catalog.ts';
import { SubmissionRefusal, toSubmissionReply } from './submission-replies.ts';

/**
 * Runs the receipt of a message in a span that covers it from DATA to the reply, like that of a request over HTTP. Mail has no
 * header for the trace of its sender, so each message begins a trace.
 * @param recipients of the message
 * @param receive gets the span; undefined if it isn't sampled
 */
export async function traceSubmission<Result>(
  tracing: Tracing | undefined,
  recipients: number,
  receive: (span: TraceSpan | undefined) => Promise<Result>,
): Promise<Result> {
  const span = tracing?.startRequest(
    'SMTP DATA',
    {},
    { 'network.protocol.name': 'smtp', 'signalpost.smtp.recipients': recipients },
  );
  if (span === undefined) return receive(undefined);
  try {
    const result = await receive(span);
    span.set({ 'signalpost.smtp.reply_code': 250 });
    return result;
  } catch (error) {
    describeRefusal(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Only errors of the service count as failures of a server span. */
function describeRefusal(span: TraceSpan, error: unknown): void {
  if (isLostConnection(error)) {
    span.set({ 'error.type': 'connection_lost' });
    return;
  }
  span.set({ 'signalpost.smtp.reply_code': toSubmissionReply(error).code });
  if (error instanceof SubmissionRefusal) {
    span.set({ 'error.type': error.message });
    return;
  }
  const code = error instanceof Fault ? error.code : 'INTERNAL_ERROR';
  if (errorCatalog[code].status >= 500) span.fail(code);
  else span.set({ 'error.type': code });
}
