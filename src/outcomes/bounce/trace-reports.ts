import type { Kysely } from '../../base/database/open-database.ts';
import { readTraceContext } from '../../base/telemetry/trace-context.ts';
import type { TraceSpan, Tracing } from '../../base/telemetry/tracing.ts';
import type { Log } from '../../base/values/log.ts';
import type { FeedbackEvent } from './feedback-event-store.ts';
import { readTracedMessages } from './traced-message-store.ts';

/** Reports of one request that get a span. */
const maxTracedReports = 100;

/** Runs the writing of reports in a span for each about a traced message, linked to the message's acceptance. */
export async function traceReports<Result>(
  { tracing, kysely, log }: ReportTracing,
  events: readonly FeedbackEvent[],
  write: () => Promise<Result>,
): Promise<Result> {
  if (tracing === undefined || events.length === 0) return write();
  const spans = await startSpans(tracing, kysely, events.slice(0, maxTracedReports)).catch(
    (error: unknown) => {
      log.debug({ err: error }, 'could not trace reports');
      return [];
    },
  );
  try {
    return await write();
  } catch (error) {
    for (const span of spans) span.fail('internal');
    throw error;
  } finally {
    for (const span of spans) span.end();
  }
}

export interface ReportTracing {
  /** Undefined: reports aren't traced. */
  readonly tracing: Tracing | undefined;
  readonly kysely: Kysely;
  readonly log: Log;
}

async function startSpans(
  tracing: Tracing,
  kysely: Kysely,
  events: readonly FeedbackEvent[],
): Promise<TraceSpan[]> {
  const byMessage = new Map(events.map((event) => [event.messageId, event]));
  const traced = await readTracedMessages(kysely, [...byMessage.values()]);
  return events.flatMap((event) => {
    const message = traced.find(({ messageId }) => messageId === event.messageId);
    const accepted = readTraceContext(message?.trace);
    if (message === undefined || accepted === undefined) return [];
    const { permanent, by } = event.detail;
    const span = tracing.startLinked(accepted, 'report', 'consumer', {
      'messaging.system': 'signalpost',
      'messaging.operation.name': 'report',
      'messaging.operation.type': 'process',
      'messaging.message.id': event.messageId,
      'signalpost.account.id': message.accountId,
      'signalpost.event.kind': event.kind,
      ...(typeof by === 'string' && { 'signalpost.report.by': by }),
      ...(typeof permanent === 'boolean' && { 'signalpost.report.permanent': permanent }),
    });
    return span ?? [];
  });
}
