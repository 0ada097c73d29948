import { Readable } from 'node:stream';
import type { Database } from '../../base/database/open-database.ts';
import { Limiter } from '../../base/fairness/limiter.ts';
import { policies } from '../../base/fairness/policies.ts';
import { newId } from '../../base/values/ids.ts';
import { pickReaderLanguage } from '../../base/values/reader-language.ts';
import { timeOfId } from '../../base/values/uuid7.ts';
import { answerFault } from '../../host/http/answer-fault.ts';
import type { Http } from '../../host/http/create-http.ts';
import type { StatusLinks } from '../../sending/submission/status-link.ts';
import { withTimeout } from '../../sending/submission/with-timeout.ts';
import { RateLimit } from '../bounce/rate-limit.ts';
import { type DeliveredState, describeProgress, type Progress } from './describe-progress.ts';
import type { StoredProgress } from './progress-store.ts';
import { progressText } from './progress-texts.ts';
import { ProgressWatch } from './progress-watch.ts';

export interface ProgressRouteDependencies {
  readonly links: StatusLinks;
  readonly database: Database;
  readonly delivered: DeliveredState;
}

/** Of a process: requests per minute, and open streams. */
export const statusLimits = { ofLink: 60, ofNetwork: 1_200, streamsOfLink: 3 } as const;
/** Heartbeat interval, so that both sides notice a lost connection. */
const heartbeatMs = 15_000;
const retryAfterSeconds = 5;
const tooMany = `Too many requests or streams. Retry in ${retryAfterSeconds} s`;

/**
 * Pages of every origin can read it, as in the Fetch standard, section 3.2: the link is the credential, and nothing depends on
 * cookies.
 */
const headers = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Retry-After',
  'cache-control': 'no-store',
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
  { links, database, delivered }: ProgressRouteDependencies,
): void {
  // All nodes share the clock of message IDs.
  const now = (): number => timeOfId(newId()).getTime();
  const watch = new ProgressWatch(database, now);
  const streams = new Limiter(policies.statusStreams);
  const ofLink = new RateLimit(statusLimits.ofLink);
  const ofNetwork = new RateLimit(statusLimits.ofNetwork);
  const stop = new AbortController();
  http.addHook('preClose', async () => stop.abort());

  http.get<{ Params: { token: string }; Querystring: { lang?: unknown } }>(
    '/status/:token',
    { errorHandler: answerFault },
    async (request, reply) => {
      reply.headers(headers);
      const { token } = request.params;
      const networks = http.peers.networksOf(request.raw);
      const refuse = () =>
        reply
          .code(429)
          .header('retry-after', retryAfterSeconds)
          .send({ status: 429, message: tooMany, requestId: request.id });
      if (!ofNetwork.consume(networks[0] ?? '', now())) return refuse();
      const target = links.read(token);
      if (target === undefined) return reply.callNotFound();
      if (!ofLink.consume(token, now())) return refuse();
      const { accept = '', 'accept-language': languages, 'last-event-id': last } = request.headers;
      const language = pickReaderLanguage(`${request.query.lang},${languages}`);
      const expired: Progress = {
        state: 'expired',
        text: progressText('expired', language),
        at: target.expiresAt.toISOString(),
        final: true,
      };
      const isExpired = () => target.expiresAt.getTime() <= now();
      const describe = (stored: StoredProgress | undefined): Progress =>
        (!isExpired() && describeProgress(target, stored, delivered, language)) || expired;
      if (isExpired()) return reply.code(410).send(expired);
      if (request.method === 'GET' && accept.includes('text/event-stream')) {
        if (last === 'final') return reply.code(204).send();
        const isFull = watch.countFollowers(token) >= statusLimits.streamsOfLink;
        const holding = isFull ? undefined : streams.tryAcquire(networks);
        if (holding === undefined) return refuse();
        const stream = streamProgress(stop.signal, (show) =>
          watch.follow(token, target, (stored) => show(describe(stored))),
        );
        stream.once('close', holding.release);
        // Proxies such as nginx would hold events back.
        return reply.header('x-accel-buffering', 'no').type('text/event-stream').send(stream);
      }
      const progress = describe(await withTimeout(watch.read(target)));
      return reply.code(progress === expired ? 410 : 200).send(progress);
    },
  );
}

/**
 * A stream of what is shown, until it is final. What a client doesn't read stays small: a message changes a few dozen times in 15
 * minutes.
 * @param begin gets the function that shows a progress, and returns what to do at the end
 */
function streamProgress(
  stopping: AbortSignal,
  begin: (show: (progress: Progress) => void) => () => void,
): Readable {
  const stream = new Readable({ read: () => undefined });
  stream.push('retry: 3000\n\n');
  const heartbeat = setInterval(() => stream.push(':\n\n'), heartbeatMs);
  let sent = '';
  const finish = begin((progress) => {
    const text = JSON.stringify(progress);
    if (text === sent) return;
    sent = text;
    stream.push(`${progress.final ? 'id: final\n' : ''}data: ${text}\n\n`);
    if (progress.final) end();
  });
  const release = (): void => {
    clearInterval(heartbeat);
    stopping.removeEventListener('abort', end);
    finish();
  };
  const end = (): void => {
    release();
    stream.push(null);
  };
  stopping.addEventListener('abort', end);
  stream.once('close', release);
  if (stopping.aborted) end();
  return stream;
}
