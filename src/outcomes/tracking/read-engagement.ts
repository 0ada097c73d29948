import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { newId } from '../../base/values/ids.ts';
import type { ReaderEventKind } from '../../content/message/event-kinds.ts';
import { classifyReader, truncateAddress } from './classify-reader.ts';
import type { Engagement } from './engagement.ts';
import type { TrackedMessage } from './tracking-tokens.ts';

const maxAgentLength = 300;

export interface EngagementSource {
  readonly message: TrackedMessage;
  readonly kind: ReaderEventKind;
  readonly link?: number | undefined;
  readonly hidden?: boolean;
}

/**
 * Reads an open or click from a request. The reader's address is truncated to its network unless `keepAddresses` is
 * set.
 */
export function readEngagement(
  request: FastifyRequest,
  keepAddresses: boolean,
  { message, kind, link, hidden = false }: EngagementSource,
): Engagement {
  const userAgent = internUserAgent(String(request.headers['user-agent'] ?? ''));
  const verdict = classifyReader({
    kind,
    userAgent,
    address: request.ip,
    hidden,
    prefetch: isPrefetch(request),
  });
  const network = keepAddresses ? request.ip : truncateAddress(request.ip);
  // Many events are held in memory, so keep only what identifies the message, not the values in the token.
  const { accountId, messageId, retentionDays } = message;
  return {
    id: newId(),
    message: { accountId, messageId, retentionDays },
    kind,
    at: performance.now(),
    link,
    hidden,
    verdict,
    userAgent,
    network,
  };
}

/** Interned user agents: there are few distinct ones, and many pending events hold one. */
const agents = new LRUCache<string, string>({ max: 2_000 });

function internUserAgent(agent: string): string {
  const cached = agents.get(agent);
  if (cached !== undefined) return cached;
  const copy = truncate(agent);
  agents.set(copy, copy);
  return copy;
}

/** Copies the text, because a slice would keep all of a long header in memory. */
function truncate(agent: string): string {
  return agent.length <= maxAgentLength
    ? agent
    : Buffer.from(agent.slice(0, maxAgentLength), 'utf16le').toString('utf16le');
}

/** Sec-Purpose (Fetch standard) and its predecessors. */
function isPrefetch({ headers }: FastifyRequest): boolean {
  const purpose =
    headers['sec-purpose'] ?? headers.purpose ?? headers['x-purpose'] ?? headers['x-moz'];
  return /prefetch|prerender|preview/i.test(String(purpose ?? ''));
}
