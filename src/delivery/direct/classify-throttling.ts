import { classifyReply } from '../classify-reply.ts';
import type { Reply } from '../reply.ts';
import { formatReply } from '../reply.ts';
import type { SlotOutcome } from '../shaping/sending-limiter.ts';
import { isSmtpSessionLimit } from '../smtp-session-limit.ts';
import type { TransactionResult } from '../transport.ts';

/** Causes of temporary replies that ask for less mail. */
const throttlingCauses = new Set(['throttled', 'reputation']);
const aboutConnections = /connection|concurren|session/i;

/** What a transaction says about the pace of its destination. */
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
    // Another session mends it, not a slower pace.
    const named = result.sessionEnds?.some((one) => one.kind === 'refused' && one.named) === true;
    if (named && isSmtpSessionLimit(end.reply)) return { kind: 'answered' };
    return throttlingOf(end.reply) ?? { kind: 'answered' };
  }
  // Missing trust is a matter of one domain's policy; the server was there.
  if (end.kind === 'fault' && end.stage === 'connect' && end.fault !== 'tls')
    return { kind: 'unreachable', text: end.text };
  return { kind: 'answered' };
}

/**
 * RFC 5321 section 4.2.3: 421 ends the session; RFC 3463: X.7.x is about policy, and large receivers slow senders down
 * with it. Greylisting and missing authentication have other remedies than a slower pace.
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
