import type { Http } from '../../host/http/create-http.ts';
import { answerProblem } from './answer-problem.ts';
import type { InboxArrivals } from './inbox-arrivals.ts';
import type { CapturedMessage } from './inbox-message.ts';
import type { InboxStore } from './inbox-store.ts';
import { readMessageQuery } from './message-parameters.ts';

/** Maximum number of waiting requests; more get 503. */
const maxWaiting = 500;

export interface FindMessagesDependencies {
  readonly store: Pick<InboxStore, 'find' | 'remove'>;
  readonly arrivals: Pick<InboxArrivals, 'listen'>;
  /** Ends waiting requests when the service stops. */
  readonly stopping: AbortSignal;
}

/**
 * `GET /inbox/api/messages?to=&since=&limit=&wait=`: the captured messages, newest first. `wait` delays the response
 * for up to that many seconds until there is at least one. 400 names an invalid parameter.
 */
export function registerFindMessagesRoutes(
  http: Http,
  { store, arrivals, stopping }: FindMessagesDependencies,
): void {
  let waiting = 0;
  http.get('/api/messages', async (request, reply) => {
    const { filter, limit, waitSeconds } = readMessageQuery(
      request.query as Readonly<Record<string, unknown>>,
    );
    const find = () => store.find(filter, limit);
    if (waitSeconds === 0) return (await find()).map(toAnswer);
    if (waiting >= maxWaiting) {
      const message = 'Too many requests are waiting for mail; try again later.';
      return answerProblem(request, reply, { status: 503, message });
    }
    const disconnected = new AbortController();
    reply.raw.once('close', () => disconnected.abort());
    waiting += 1;
    try {
      const found = await waitForMessages({
        find,
        arrivals,
        to: filter.to,
        timeoutMs: waitSeconds * 1_000,
        signal: AbortSignal.any([disconnected.signal, stopping]),
      });
      return found.map(toAnswer);
    } finally {
      waiting -= 1;
    }
  });
}

function toAnswer(message: CapturedMessage) {
  const { id, receivedAt, envelopeFrom, envelopeTo, subject, html, text, unread, source } = message;
  const fields = Map.groupBy(message.headers, ([field]) => field.toLowerCase());
  const headers = Object.fromEntries(
    [...fields].map(([name, values]) => [name, values.map(([, value]) => value)]),
  );
  const content = { headers, subject, html, text, unread, source: source.toString('utf8') };
  return { id, receivedAt: receivedAt.toISOString(), envelopeFrom, envelopeTo, ...content };
}

interface WaitOptions {
  /** Finds the messages to wait for. */
  readonly find: () => Promise<CapturedMessage[]>;
  readonly arrivals: Pick<InboxArrivals, 'listen'>;
  /** Only mail to this envelope recipient (case-insensitive) triggers another search. */
  readonly to: string | undefined;
  readonly timeoutMs: number;
  /** Ends the wait early: the caller disconnected, or the service is stopping. */
  readonly signal: AbortSignal;
}

/** Resolves as soon as at least one message is found, or with none on timeout or abort. */
async function waitForMessages(options: WaitOptions): Promise<CapturedMessage[]> {
  const { find, arrivals, timeoutMs, signal } = options;
  const ended = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const to = options.to?.toLowerCase();
  let arrived = false;
  let wake = (): void => undefined;
  const unlisten = arrivals.listen(({ envelopeTo }) => {
    if (to !== undefined && !envelopeTo.some((address) => address.toLowerCase() === to)) return;
    arrived = true;
    wake();
  });
  ended.addEventListener('abort', () => wake());
  try {
    for (;;) {
      arrived = false;
      const found = await find();
      if (found.length > 0 || ended.aborted) return found;
      if (!arrived) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    unlisten();
  }
}
