import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { newId } from '../../foundation/ids.ts';
import type { ReaderEventKind } from '../../message/event-kinds.ts';
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

/** What a request says about an open or click; the reader's address is cut to its network unless `keepAddresses`. */
export function readEngagement(
  request: FastifyRequest,
  at: number,
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
  // Many wait together: of a link's token only what names the message is kept, not the values in it.
  const { accountId, messageId, retentionDays } = message;
  return {
    id: newId(),
    message: { accountId, messageId, retentionDays },
    kind,
    at,
    link,
    hidden,
    verdict,
    userAgent,
    network,
  };
}

/** User agents that came before: readers have few different ones, and many events that hold one wait together. */
const agents = new LRUCache<string, string>({ max: 2_000 });

function internUserAgent(agent: string): string {
  const cached = agents.get(agent);
  if (cached !== undefined) return cached;
  const copy = truncate(agent);
  agents.set(copy, copy);
  return copy;
}

/** Copied, since a slice would keep the whole of a long header in memory. */
function truncate(agent: string): string {
  return agent.length <= maxAgentLength
    ? agent
    : Buffer.from(agent.slice(0, maxAgentLength), 'utf16le').toString('utf16le');
}

/** Sec-Purpose (Fetch standard) and its forerunners. */
function isPrefetch({ headers }: FastifyRequest): boolean {
  const purpose =
    headers['sec-purpose'] ?? headers.purpose ?? headers['x-purpose'] ?? headers['x-moz'];
  return /prefetch|prerender|preview/i.test(String(purpose ?? ''));
}
