import { classifyReply } from '../classify-reply.ts';
import type { Reply } from '../reply.ts';
import { formatReply } from '../reply.ts';
import type { SlotOutcome } from '../shaping/sending-limiter.ts';
import { isSmtpSessionLimit } from '../smtp-session-limit.ts';
import type { TransactionResult } from '../transport.ts';

/** Causes of temporary replies that ask for a lower rate. */
const throttlingCauses = new Set(['throttled', 'reputation']);
const aboutConnections = /connection|concurren|session/i;

/** What a transaction says about its destination's rate limit. */
export function classifyThrottling(result: TransactionResult): SlotOutcome {
  const { end } = result;
  if (end.kind === 'stopped' || end.kind === 'lost') return { kind: 'unused' };
  if (end.kind === 'fault' && end.fault === 'source') return { kind: 'unused' };
  for (const reply of result.refused.values()) {
    const slowed = throttlingOf(reply);
    if (slowed !== undefined) return slowed;
  }
  if (end.kind === 'reply') {
    if (Math.floor(end.reply.code / 100) === 2) return { kind: 'accepted' };
    // A new session helps here; a lower rate doesn't.
    const named =
      result.sessionEnds?.some((session) => session.kind === 'refused' && session.named) === true;
    if (named && isSmtpSessionLimit(end.reply)) return { kind: 'answered' };
    return throttlingOf(end.reply) ?? { kind: 'answered' };
  }
  // A TLS failure comes from one domain's policy; the server was reachable.
  if (end.kind === 'fault' && end.stage === 'connect' && end.fault !== 'tls')
    return { kind: 'unreachable', text: end.text };
  return { kind: 'answered' };
}

/**
 * 421 ends the session (RFC 5321 section 4.2.3) and X.7.x is about policy (RFC 3463), which large receivers use to
 * throttle. A lower rate doesn't help against greylisting or missing authentication.
 */
function throttlingOf(reply: Reply): SlotOutcome | undefined {
  const meaning = classifyReply(reply.code, reply.enhanced, reply.text);
  if (meaning.kind !== 'temporary') return undefined;
  const policy = reply.enhanced?.startsWith('4.7.') === true && meaning.cause === 'other';
  if (!throttlingCauses.has(meaning.cause) && reply.code !== 421 && !policy) return undefined;
  if (meaning.cause === 'greylist' || meaning.cause === 'authentication') return undefined;
  return {
    kind: 'slowed',
    what:
      aboutConnections.test(reply.text) && !/message|rate/i.test(reply.text)
        ? 'connections'
        : 'messages',
    text: formatReply(reply),
    after: meaning.after,
  };
}
