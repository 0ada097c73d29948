import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { atEndOfTurn } from '../../base/fairness/fair-queue.ts';
import type { TrackedMessage } from '../../base/values/byte-fields.ts';
import { newId } from '../../base/values/ids.ts';
import type { ReaderEventKind } from '../../content/message/event-kinds.ts';
import { rawTemplateId } from '../../content/message/raw-message.ts';
import { linkTarget } from '../../content/rendering/link-target.ts';
import type { LoadedTemplate } from '../../content/rendering/load-template.ts';
import type { Http } from '../../host/http/create-http.ts';
import type { FindVersion } from '../../sending/delivery/prepare-mail.ts';
import { classifyReader, type ReaderVerdict, truncateAddress } from './classify-reader.ts';
import type { Engagement } from './engagement.ts';
import type { TrackedLink, TrackingTokens } from './tracking-tokens.ts';

/** A transparent 1×1 GIF. */
const pixel = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const imagePattern = /^([A-Za-z0-9_-]+)\.gif$/;

/**
 * `GET /o/{token}.gif`: the image that tracks opens; HEAD isn't counted. Invalid tokens get the image too, because a
 * broken one would be visible.
 */
export function registerOpenRoute(
  http: Http,
  dependencies: Omit<TrackingRouteDependencies, 'findVersion'>,
): void {
  http.get<{ Params: { image: string } }>('/o/:image', (request, reply) => {
    const token = imagePattern.exec(request.params.image)?.[1];
    const message = token === undefined ? undefined : dependencies.tokens.readOpen(token);
    if (message !== undefined && request.method === 'GET') {
      const engaged = { message, kind: 'opened' } as const;
      dependencies.record(readEngagement(request, dependencies.keepAddresses, engaged));
    }
    return reply
      .header('cache-control', 'no-store, no-cache, private')
      .header('cross-origin-resource-policy', 'cross-origin')
      .type('image/gif')
      .send(pixel);
  });
}

export interface TrackingRouteDependencies {
  readonly tokens: TrackingTokens;
  readonly findVersion: FindVersion;
  readonly keepAddresses: boolean;
  readonly record: (engagement: Engagement) => void;
}

/**
 * `GET /c/{token}` redirects (302) to the link's target; tokens are signed, so this isn't an open redirect. HEAD isn't
 * counted, because mail programs and proxies use it to check links.
 */
export function registerClickRoute(http: Http, dependencies: TrackingRouteDependencies): void {
  http.get<{ Params: { token: string } }>('/c/:token', (request, reply) => {
    const link = dependencies.tokens.readLink(request.params.token);
    if (link === undefined) return notFound(reply);
    if (request.method === 'GET') {
      const hidden = link.index === undefined;
      const engaged = { message: link, kind: 'clicked', link: link.index, hidden } as const;
      dependencies.record(readEngagement(request, dependencies.keepAddresses, engaged));
    }
    if (link.index === undefined) return reply.code(204).header('cache-control', 'no-store').send();
    if (link.templateId === rawTemplateId) {
      const [target] = link.values;
      return target === undefined ? notFound(reply) : redirectTo(reply, target).send();
    }
    const found = dependencies.findVersion(
      link.accountId,
      link.templateId,
      link.templateVersion,
      link.locale,
    );
    if (found instanceof Promise) {
      return found.then((template) => {
        const target = targetOf(link, template);
        return target === undefined ? notFound(reply) : redirectTo(reply, target).send();
      });
    }
    const target = targetOf(link, found);
    if (target === undefined) return notFound(reply);
    const response = redirectTo(reply, target);
    // Send the turn's responses together: waking a sleeping client costs more than the rest of a short response.
    atEndOfTurn(() => void response.send());
    // Returning the reply would make Fastify watch for its end.
    return undefined;
  });
}

function targetOf(link: TrackedLink, template: LoadedTemplate | undefined): string | undefined {
  const { index } = link;
  if (template === undefined || index === undefined) return undefined;
  const values: Record<string, string> = Object.create(null);
  template.compiled.links[index]?.fields.forEach((name, position) => {
    const value = link.values[position];
    if (value !== undefined) values[name] = value;
  });
  return linkTarget(template, index, values);
}

function redirectTo(reply: FastifyReply, target: string): FastifyReply {
  return reply
    .code(302)
    .header('cache-control', 'no-store')
    .header('referrer-policy', 'no-referrer')
    .header('x-robots-tag', 'noindex, nofollow')
    .header('location', asciiUrl(target));
}

/** Headers are ASCII, so remove tabs and line breaks, and percent-encode everything else, as a browser would (WHATWG URL section 4.4). */
function asciiUrl(target: string): string {
  const url = target.replace(/[\t\n\r]/g, '');
  return /^[!-~]*$/.test(url)
    ? url
    : encodeURI(url.toWellFormed()).replace(/%25([0-9A-F]{2})/gi, '%$1');
}

function notFound(reply: FastifyReply) {
  return reply
    .code(404)
    .type('text/plain; charset=utf-8')
    .send('This link doesn’t work. Look for what you need on the sender’s website.\n');
}

const maxAgentLength = 300;

interface EngagementSource {
  readonly message: TrackedMessage;
  readonly kind: ReaderEventKind;
  readonly link?: number | undefined;
  readonly hidden?: boolean;
}

/**
 * Reads an open or click from a request. The reader's address is truncated to its network unless `keepAddresses` is
 * set.
 */
function readEngagement(
  request: FastifyRequest,
  keepAddresses: boolean,
  { message, kind, link, hidden = false }: EngagementSource,
): Engagement {
  const userAgent = internUserAgent(String(request.headers['user-agent'] ?? ''));
  const verdict = classifyRequest(request, kind, hidden);
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

/** Classifies who sent a request. */
export function classifyRequest(
  request: FastifyRequest,
  kind: ReaderEventKind,
  hidden = false,
): ReaderVerdict {
  const userAgent = String(request.headers['user-agent'] ?? '');
  const prefetch = isPrefetch(request);
  return classifyReader({ kind, userAgent, address: request.ip, hidden, prefetch });
}

/** Sec-Purpose (Fetch standard) and its predecessors. */
function isPrefetch({ headers }: FastifyRequest): boolean {
  const purpose =
    headers['sec-purpose'] ?? headers.purpose ?? headers['x-purpose'] ?? headers['x-moz'];
  return /prefetch|prerender|preview/i.test(String(purpose ?? ''));
}
