import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '../../base/database/open-database.ts';
import { Limiter } from '../../base/fairness/limiter.ts';
import { policies } from '../../base/fairness/policies.ts';
import { newId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import { timeOfId } from '../../base/values/uuid7.ts';
import { answerFault } from '../../host/http/answer-fault.ts';
import type { Http } from '../../host/http/create-http.ts';
import type { StatusLinks, StatusTarget } from '../../sending/submission/status-link.ts';
import { withTimeout } from '../../sending/submission/with-timeout.ts';
import { RateLimit } from '../bounce/rate-limit.ts';
import { type DeliveredState, describeProgress, type Progress } from './describe-progress.ts';
import type { StoredProgress } from './progress-store.ts';
import { type ProgressLanguage, pickProgressLanguage, progressText } from './progress-texts.ts';
import { ProgressWatch } from './progress-watch.ts';

export interface ProgressRouteDependencies {
  readonly links: StatusLinks;
  readonly database: Database;
  readonly log: Log;
  readonly delivered: DeliveredState;
}

/** Per minute and process. */
export const statusRequests = { perLink: 60, perNetwork: 1_200 } as const;
export const maxStreamsPerLink = 3;
/** Heartbeat interval, so that both sides notice a lost connection. */
const heartbeatMs = 15_000;
const retryAfterSeconds = 5;
/** The ID of the event after which a stream ends. */
const finalId = 'final';

/**
 * Pages of every origin can read it, as in the Fetch standard, section 3.2: the link is the credential, and nothing depends on
 * cookies.
 */
const headers = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Retry-After',
  'cross-origin-resource-policy': 'cross-origin',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow',
} as const;

/**
 * `GET /status/{token}`: the progress of one message for the person who waits for it.
 *
 * In: optionally `lang`, which counts before Accept-Language. Out: 200 with a `Progress`, or with `Accept: text/event-stream` one
 * after each change, until it is final (server-sent events, WHATWG HTML section 9.2; 204 ends the reconnecting of a client that
 * has had it). 404 for a token that wasn't made here; 410 with a `Progress` after 15 minutes, or once the message is deleted; 429 over
 * the limits of the link, the network or the process; 503 if the database is unavailable, for which streams wait.
 */
export function registerProgressRoutes(
  http: Http,
  { links, database, log, delivered }: ProgressRouteDependencies,
): void {
  // All nodes share the clock of message IDs.
  const now = (): number => timeOfId(newId()).getTime();
  const watch = new ProgressWatch(database, log, now);
  const streams = new Limiter(policies.statusStreams);
  const ofLink = new RateLimit(statusRequests.perLink);
  const ofNetwork = new RateLimit(statusRequests.perNetwork);
  const stop = new AbortController();
  http.addHook('preClose', async () => stop.abort());

  const describe = (
    target: StatusTarget,
    stored: StoredProgress | undefined,
    language: ProgressLanguage,
  ) => describeProgress(target, stored, delivered, language);

  http.get<{ Params: { token: string }; Querystring: { lang?: unknown } }>(
    '/status/:token',
    { errorHandler: answerFault },
    async (request, reply) => {
      reply.headers(headers);
      const { token } = request.params;
      const networks = http.peers.networksOf(request.raw);
      if (!ofNetwork.consume(networks[0] ?? '', now())) return refuse(request, reply);
      const target = links.read(token);
      if (target === undefined)
        return reply.code(404).send({ status: 404, message: 'Not Found', requestId: request.id });
      if (!ofLink.consume(token, now())) return refuse(request, reply);
      const { lang = '' } = request.query;
      const { accept = '', 'accept-language': languages = '' } = request.headers;
      const language = pickProgressLanguage(`${lang},${languages}`);
      const leftMs = target.expiresAt.getTime() - now();
      if (leftMs <= 0) return reply.code(410).send(describeEnd(target, language));
      if (request.method === 'GET' && accept.includes('text/event-stream')) {
        if (request.headers['last-event-id'] === finalId) return reply.code(204).send();
        const holding =
          watch.countFollowers(token) < maxStreamsPerLink
            ? streams.tryAcquire(networks)
            : undefined;
        if (holding === undefined) return refuse(request, reply);
        const stream = streamProgress({
          follow: (show) =>
            watch.follow(token, target, (stored) =>
              show(describe(target, stored, language) ?? describeEnd(target, language)),
            ),
          leftMs,
          last: () => describeEnd(target, language),
          stopping: stop.signal,
        });
        stream.once('close', holding.release);
        // Proxies such as nginx would hold events back.
        return reply.header('x-accel-buffering', 'no').type('text/event-stream').send(stream);
      }
      const progress = describe(target, await withTimeout(watch.read(target)), language);
      return progress === undefined
        ? reply.code(410).send(describeEnd(target, language))
        : reply.send(progress);
    },
  );
}

/** After the link's time, or once the message is deleted. */
function describeEnd({ expiresAt }: StatusTarget, language: ProgressLanguage): Progress {
  const text = progressText('expired', language, undefined);
  return { state: 'expired', text, at: expiresAt.toISOString(), final: true };
}

function refuse(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const message = `Too many requests or streams. Retry in ${retryAfterSeconds} s`;
  return reply
    .code(429)
    .header('retry-after', retryAfterSeconds)
    .send({ status: 429, message, requestId: request.id });
}

interface ProgressStream {
  /** Calls its argument with the progress, until the returned function is called. */
  readonly follow: (show: (progress: Progress) => void) => () => void;
  /** When the link ends, in milliseconds from now. */
  readonly leftMs: number;
  /** What the stream then ends with. */
  readonly last: () => Progress;
  readonly stopping: AbortSignal;
}

/** What a client doesn't read stays small: a message changes a few dozen times in 15 minutes. */
function streamProgress({ follow, leftMs, last, stopping }: ProgressStream): Readable {
  const stream = new Readable({ read: () => undefined });
  let sent = '';
  let hasEnded = false;
  const show = (progress: Progress): void => {
    const text = JSON.stringify(progress);
    if (hasEnded || text === sent) return;
    sent = text;
    stream.push(`${progress.final ? `id: ${finalId}\n` : ''}data: ${text}\n\n`);
    if (progress.final) end();
  };
  const release = (): void => {
    hasEnded = true;
    clearInterval(heartbeat);
    clearTimeout(expiry);
    unfollow();
    stopping.removeEventListener('abort', end);
  };
  const end = (): void => {
    if (hasEnded) return;
    release();
    stream.push(null);
  };
  stream.push('retry: 3000\n\n');
  const heartbeat = setInterval(() => stream.push(':\n\n'), heartbeatMs);
  const expiry = setTimeout(() => show(last()), leftMs);
  const unfollow = follow(show);
  stopping.addEventListener('abort', end);
  stream.once('close', release);
  if (stopping.aborted) end();
  return stream;
}
