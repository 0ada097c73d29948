import type { SpanAttributes, TraceSpan, Tracing } from '../../base/telemetry/tracing.ts';
import { domainOf } from '../../base/values/email-address.ts';
import { readContent, recipientsOf, traceOf } from '../../content/message/message-content.ts';
import type { Attempt, ClaimedMessage, RecipientResult } from '../queue/attempt.ts';

/**
 * Runs each attempt of a traced message in a span, from the claim to the outcome of its SMTP transaction.
 *
 * An attempt is a separate trace that links to the acceptance, as the semantic conventions for messaging recommend for
 * work that waits: a retry can be days later, when a backend that assembles or samples whole traces has closed that one.
 */
export function traceAttempts(tracing: Tracing | undefined, attempt: Attempt): Attempt {
  if (tracing === undefined) return attempt;
  return async (message, lease) => {
    const accepted = traceOf(message.content);
    const span =
      accepted && tracing.startLinked(accepted, 'deliver', 'consumer', describeMessage(message));
    if (span === undefined) return attempt(message, lease);
    message.span = span;
    try {
      const result = await attempt(message, lease);
      if (result === undefined) span.set({ 'signalpost.outcomes': ['lease-lost'] });
      else describeResult(span, result.result);
      return result;
    } catch (error) {
      span.fail('internal');
      throw error;
    } finally {
      span.end();
    }
  };
}

/** Runs a part of an attempt in a separate span. */
export function tracePart<Result>(
  { span }: ClaimedMessage,
  name: string,
  run: () => Result,
): Result {
  if (span === undefined) return run();
  const part = span.startChild(name);
  try {
    return run();
  } catch (error) {
    part.fail('internal');
    throw error;
  } finally {
    part.end();
  }
}

function describeMessage(message: ClaimedMessage): SpanAttributes {
  const content = readContent(message.content);
  const address = content && recipientsOf(content)[message.recipient];
  return {
    'messaging.system': 'signalpost',
    'messaging.operation.name': 'deliver',
    'messaging.operation.type': 'process',
    'messaging.message.id': message.messageId,
    'signalpost.account.id': message.accountId,
    'signalpost.template.id': message.templateId,
    'signalpost.attempt': message.attempt,
    'signalpost.destination.domains': address === undefined ? [] : [domainOf(address)],
  };
}

/** Outcome and reply code; the text of a reply can quote an address. */
function describeResult(span: TraceSpan, result: RecipientResult | undefined): void {
  span.set({
    'signalpost.outcomes': [result?.outcome ?? 'postponed'],
    'signalpost.smtp.reply_codes': result === undefined ? [] : replyCode(result),
  });
  if (result !== undefined && failures.has(result.outcome))
    span.fail(String(result.detail?.cause ?? result.outcome));
}

const failures: ReadonlySet<RecipientResult['outcome']> = new Set([
  'bounced',
  'deferred',
  'expired',
  'failed',
  'uncertain',
]);

function replyCode({ detail }: RecipientResult): number[] {
  const code = /^\d{3}/.exec(String(detail?.reply ?? ''))?.[0];
  return code === undefined ? [] : [Number(code)];
}
