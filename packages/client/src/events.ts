import type { Event, MessageStatus, Reply } from './api.generated.ts';
import type { CallOptions, Connection } from './connection.ts';
import { sleep } from './connection.ts';
import { InternalError, RateLimitedError, UnavailableError } from './errors.ts';

/** The kinds of events of a message. */
export type EventKind = 'accepted' | MessageStatus['events'][number]['kind'];

/** An event of a message, as a webhook sends it. */
export type SignalpostEvent<Kind extends EventKind = EventKind> = Omit<
  Event,
  'cursor' | 'data' | 'type'
> & {
  readonly type: `message.${Kind}`;
  /** Webhooks of `message.replied` also have the reply; null if it was erased with its message. */
  readonly data: Event['data'] & { readonly reply?: Reply | null };
};

/** An event with the position after it. */
export type ListedEvent<Kind extends EventKind = EventKind> = SignalpostEvent<Kind> & {
  readonly cursor: string;
};

export interface EventQuery<Kind extends EventKind> {
  /** A cursor, or `latest` for new events only. Default: from the oldest event that is kept. */
  readonly after?: string;
  /** Only events of these kinds. */
  readonly kinds?: readonly Kind[];
}

export interface EventPage<Kind extends EventKind = EventKind> {
  readonly items: readonly ListedEvent<Kind>[];
  /** Send it as `after` to continue. */
  readonly cursor: string;
  /** More events may follow right away. */
  readonly more: boolean;
}

const longPollSeconds = 25;
const restMs = 1_000;

/** All events of the account, in the order in which they were committed. Needs the scope `messages:read`. */
export class Events {
  readonly #connection: Connection;
  readonly #path: string;

  constructor(connection: Connection, account: string) {
    this.#connection = connection;
    this.#path = `/manage/v1/accounts/${account}/events`;
  }

  /**
   * One page of events.
   * @param query `limit`: at most 1,000, default 100; `wait`: seconds to wait for an event, at most 30, default 0
   */
  async list<Kind extends EventKind = EventKind>(
    query: EventQuery<Kind> & { readonly limit?: number; readonly wait?: number } = {},
    options: CallOptions = {},
  ): Promise<EventPage<Kind>> {
    const { kinds, ...rest } = query;
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(rest)) parameters.set(name, String(value));
    if (kinds !== undefined) parameters.set('kind', kinds.join(','));
    const path = `${this.#path}?${parameters}`;
    return (await this.#connection.call({ method: 'GET', path }, options)) as EventPage<Kind>;
  }

  /**
   * Follows the events until `signal` aborts, also past outages, errors of the service and rate limits. Save the `cursor` of what you have handled, and
   * pass it as `after` to continue after a restart.
   * @throws the reason of `signal`
   */
  async *stream<Kind extends EventKind = EventKind>(
    query: EventQuery<Kind> = {},
    options: CallOptions = {},
  ): AsyncGenerator<ListedEvent<Kind>, never, undefined> {
    let { after } = query;
    for (;;) {
      try {
        const page = await this.list<Kind>(
          {
            ...query,
            ...(after === undefined ? {} : { after }),
            limit: 1_000,
            wait: longPollSeconds,
          },
          { timeout: (longPollSeconds + 10) * 1_000, ...options },
        );
        yield* page.items;
        after = page.cursor;
      } catch (error) {
        await sleep(restAfter(error), options.signal);
      }
    }
  }
}

/** How long a stream rests after an error. @throws the error if time won't mend it */
function restAfter(error: unknown): number {
  if (error instanceof RateLimitedError) return Math.max(restMs, (error.retryAfter ?? 0) * 1_000);
  if (error instanceof UnavailableError || error instanceof InternalError) return restMs;
  throw error;
}
