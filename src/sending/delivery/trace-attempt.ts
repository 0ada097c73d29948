import type { SpanAttributes, TraceSpan, Tracing } from '../../base/telemetry/tracing.ts';
import { domainOf, type EmailAddress } from '../../base/values/email-address.ts';
import { readContent, recipientsOf, traceOf } from '../../content/message/message-content.ts';
import type { Attempt, ClaimedMessage, RecipientResult } from '../queue/attempt.ts';

/**
 * Runs each attempt of a traced message in a span, from the claim to the outcome of its last SMTP transaction.
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
    const results: RecipientResult[] = [];
    try {
      const result = await attempt(message, {
        ...lease,
        // Results that are saved before the end are no longer in the attempt's own.
        advance(earlier, next) {
          results.push(...earlier);
          return lease.advance(earlier, next);
        },
      });
      if (result === undefined) span.set({ 'signalpost.outcomes': ['lease-lost'] });
      else describeResults(span, [...results, ...result.results]);
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
  const recipients: readonly EmailAddress[] = content === undefined ? [] : recipientsOf(content);
  const pending = message.pending.flatMap((recipient) => recipients[recipient] ?? []);
  return {
    'messaging.system': 'signalpost',
    'messaging.operation.name': 'deliver',
    'messaging.operation.type': 'process',
    'messaging.message.id': message.messageId,
    'signalpost.account.id': message.accountId,
    'signalpost.template.id': message.templateId,
    'signalpost.attempt': message.attempt,
    'signalpost.destination.domains': [...new Set(pending.map(domainOf))],
  };
}

/** Outcomes and reply codes; the text of a reply can quote an address. */
function describeResults(span: TraceSpan, results: readonly RecipientResult[]): void {
  const outcomes = new Set<string>(results.map(({ outcome }) => outcome));
  if (outcomes.size === 0) outcomes.add('postponed');
  const codes = new Set(results.flatMap(replyCode));
  span.set({ 'signalpost.outcomes': [...outcomes], 'signalpost.smtp.reply_codes': [...codes] });
  const failed = results.find(({ outcome }) => failures.has(outcome));
  if (failed !== undefined) span.fail(String(failed.detail?.cause ?? failed.outcome));
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
