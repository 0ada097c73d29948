import type { RecipientResult } from '../queue/attempt.ts';
import type { RetryKind } from '../queue/retry-schedule.ts';
import { causeAfterText, classifyReply } from './classify-reply.ts';
import { formatReply, type Reply } from './reply.ts';
import type { PermanentCause } from './reply-rules.ts';
import type { FaultKind, Stage, TransactionEnd, TransactionResult } from './transport.ts';

/** Outcome of a transaction. Not called for ends that say nothing about the message (`lost`, `stopped`). */
export function classifyTransaction(result: TransactionResult): RecipientResult {
  const verdict = classifyEnd(result.end);
  return {
    ...verdict,
    detail: { ...verdict.detail, server: result.server },
    ...(result.receiver !== undefined && { receiver: result.receiver }),
    ...(result.relayId !== undefined &&
      verdict.outcome === 'delivered' && { relayId: result.relayId }),
  };
}

function classifyEnd(end: TransactionEnd): RecipientResult {
  switch (end.kind) {
    case 'reply':
      return classifyLastReply(end.reply, end.stage);
    case 'fault':
      return {
        outcome: 'deferred',
        reason: `${faultReasons[end.fault]}: ${end.text}`,
        retry: 'connection',
        detail: { cause: end.fault, stage: end.stage },
      };
    case 'uncertain':
      return {
        outcome: 'uncertain',
        reason: `it may have been delivered: ${end.text}`,
        retry: 'uncertain',
        detail: { cause: 'uncertain', stage: 'final' },
      };
    case 'unfit':
      return {
        outcome: 'bounced',
        reason: end.text,
        detail: {
          cause: end.cause,
          // RFC 6531 section 3.5: the server can't take non-ASCII addresses or headers.
          ...(end.cause === 'unsupported' && { status: '5.6.7' }),
        },
      };
    default:
      return { outcome: 'deferred', reason: 'it was not attempted', retry: 'connection' };
  }
}

const faultReasons: Readonly<Record<FaultKind, string>> = {
  name: 'DNS lookup failed',
  connection: 'could not connect to the server',
  tls: 'could not establish a trusted TLS connection',
  timeout: 'the server did not respond in time',
  closed: 'the server closed the connection',
  protocol: 'the server violated the SMTP protocol',
  source: 'no source address is available',
  database: 'Signalpost’s database did not respond in time',
};

/** What was rejected, for use in sentences. */
const rejectedObjects: Readonly<Record<Stage, string>> = {
  connect: 'the connection',
  mail: 'the sender',
  rcpt: 'the recipient',
  data: 'the message',
  final: 'the message',
};

function classifyLastReply(reply: Reply, stage: Stage): RecipientResult {
  const meaning = classifyReply(reply.code, reply.enhanced, reply.text);
  const text = formatReply(reply);
  const detail = { reply: text, stage };
  if (meaning.kind === 'delivered') {
    if (stage === 'final') return { outcome: 'delivered', reason: text, detail };
    return { outcome: 'deferred', reason: text, retry: 'ordinary', detail };
  }
  // A refused connection is about us or the server, not the message, so it never fails a message permanently.
  if (meaning.kind === 'permanent' && stage !== 'connect') {
    return {
      outcome: 'bounced',
      reason: `the server rejected ${rejectedObjects[stage]}: ${text}`,
      detail: { ...detail, cause: causeOf(meaning.cause, stage, reply) },
    };
  }
  const retry: RetryKind = meaning.kind === 'temporary' ? meaning.retry : 'connection';
  const after = meaning.kind === 'temporary' ? meaning.after : undefined;
  return {
    outcome: 'deferred',
    reason: `the server temporarily rejected ${rejectedObjects[stage]}: ${text}`,
    retry: stage === 'connect' && retry === 'ordinary' ? 'connection' : retry,
    ...(after !== undefined && { retryAfter: after }),
    detail: { ...detail, cause: meaning.cause },
  };
}

function causeOf(cause: PermanentCause, stage: Stage, reply: Reply): PermanentCause {
  return stage === 'data' || stage === 'final' ? causeAfterText(cause, reply) : cause;
}
