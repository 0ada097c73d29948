import { classifyReply } from '../classify-reply.ts';
import type { Reply } from '../reply.ts';
import { showReply } from '../reply.ts';
import { isSessionLimit } from '../session-limit.ts';
import type { TicketUse } from '../shaping/pacer.ts';
import type { TransactionResult } from '../transport.ts';

/** Causes of temporary replies that ask for less mail. */
const slowing = new Set(['throttled', 'reputation']);
const aboutConnections = /connection|concurren|session/i;

/** What a transaction says about the pace of its destination. */
export function judgePace(result: TransactionResult): TicketUse {
  const { end } = result;
  if (end.kind === 'stopped' || end.kind === 'lost') return { kind: 'unused' };
  if (end.kind === 'fault' && end.fault === 'source') return { kind: 'unused' };
  for (const reply of result.refused.values()) {
    const slowed = readSlowing(reply);
    if (slowed !== undefined) return slowed;
  }
  if (end.kind === 'reply') {
    if (Math.floor(end.reply.code / 100) === 2) return { kind: 'accepted' };
    // Another session mends it, not a slower pace.
    const named = result.sessionEnds?.some((one) => one.kind === 'refused' && one.named) === true;
    if (named && isSessionLimit(end.reply)) return { kind: 'answered' };
    return readSlowing(end.reply) ?? { kind: 'answered' };
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
function readSlowing(reply: Reply): TicketUse | undefined {
  const meaning = classifyReply(reply.code, reply.enhanced, reply.text);
  if (meaning.kind !== 'temporary') return undefined;
  const policy = reply.enhanced?.startsWith('4.7.') === true && meaning.cause === 'other';
  if (!slowing.has(meaning.cause) && reply.code !== 421 && !policy) return undefined;
  if (meaning.cause === 'greylist' || meaning.cause === 'authentication') return undefined;
  return {
    kind: 'slowed',
    what:
      aboutConnections.test(reply.text) && !/message|rate/i.test(reply.text)
        ? 'connections'
        : 'messages',
    text: showReply(reply),
    after: meaning.after,
  };
}
