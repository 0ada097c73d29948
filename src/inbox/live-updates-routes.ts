import { Readable } from 'node:stream';
import type { Http } from '../http/create-http.ts';
import type { AnswerProblem } from './answer-problem.ts';
import type { InboxArrivals } from './inbox-arrivals.ts';

/** Maximum number of listening pages; more are answered 503. */
const maxListeners = 200;

/** Keep-alive interval, so that both sides notice a lost connection. */
const heartbeatMs = 20_000;

/**
 * `GET /inbox/updates`: server-sent events (WHATWG HTML, section 9.2) for the pages: `arrived` and `emptied`, without
 * content; the page then reloads itself.
 */
export function registerLiveUpdatesRoutes(
  http: Http,
  arrivals: Pick<InboxArrivals, 'listen'>,
  stopping: AbortSignal,
  answerProblem: AnswerProblem,
): void {
  let listeners = 0;
  http.get('/updates', { exposeHeadRoute: false }, async (request, reply) => {
    if (listeners >= maxListeners) {
      const message = 'Too many pages are listening.';
      return answerProblem(request, reply, { status: 503, message });
    }
    listeners += 1;
    const stream = new Readable({ read: () => undefined });
    stream.push('retry: 2000\n\n');
    const unlisten = arrivals.listen(({ kind }) => {
      // A slow page needs only one pending event, so don't queue more.
      if (stream.readableLength < 1_024) stream.push(`event: ${kind}\ndata:\n\n`);
    });
    const heartbeat = setInterval(() => stream.push(':\n\n'), heartbeatMs);
    const end = (): void => {
      stream.push(null);
    };
    stopping.addEventListener('abort', end);
    stream.once('close', () => {
      listeners -= 1;
      clearInterval(heartbeat);
      unlisten();
      stopping.removeEventListener('abort', end);
    });
    if (stopping.aborted) end();
    return reply.type('text/event-stream').send(stream);
  });
}
