import { Readable } from 'node:stream';
import type { Limiter } from '../foundation/limiter.ts';
import type { Http } from '../http/create-http.ts';
import type { AnswerProblem } from './answer-problem.ts';
import type { InboxArrivals } from './inbox-arrivals.ts';

/** Heartbeat interval, so that both sides notice a lost connection. */
const heartbeatMs = 20_000;

interface LiveUpdatesDependencies {
  readonly arrivals: Pick<InboxArrivals, 'listen'>;
  readonly streams: Pick<Limiter, 'tryAcquire'>;
  readonly stopping: AbortSignal;
  readonly answerProblem: AnswerProblem;
}

/**
 * `GET /inbox/updates`: server-sent events (WHATWG HTML, section 9.2) for the pages. `arrived` and `emptied` carry no
 * data; the page then fetches itself again.
 */
export function registerLiveUpdatesRoutes(
  http: Http,
  { arrivals, streams, stopping, answerProblem }: LiveUpdatesDependencies,
): void {
  http.get('/updates', { exposeHeadRoute: false }, async (request, reply) => {
    const holding = streams.tryAcquire('.inbox');
    if (holding === undefined) {
      const message = 'Too many open inbox pages. Close some and try again.';
      return answerProblem(request, reply, { status: 503, message });
    }
    const stream = new Readable({ read: () => undefined });
    stream.push('retry: 2000\n\n');
    const unlisten = arrivals.listen(({ kind }) => {
      // Skips events for a slow page: one buffered event is enough to make it refresh.
      if (stream.readableLength < 1_024) stream.push(`event: ${kind}\ndata:\n\n`);
    });
    const heartbeat = setInterval(() => stream.push(':\n\n'), heartbeatMs);
    const end = (): void => {
      stream.push(null);
    };
    stopping.addEventListener('abort', end);
    stream.once('close', () => {
      holding.release();
      clearInterval(heartbeat);
      unlisten();
      stopping.removeEventListener('abort', end);
    });
    if (stopping.aborted) end();
    // Proxies such as nginx would hold events back.
    return reply.header('x-accel-buffering', 'no').type('text/event-stream').send(stream);
  });
}
