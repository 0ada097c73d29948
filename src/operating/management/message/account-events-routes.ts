import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import {
  Flag,
  NamedObject,
  optional,
  StrictObject,
  Text,
  Whole,
} from '../../../base/values/common-schemas.ts';
import { type EventKind, eventKindNames } from '../../../content/message/event-kinds.ts';
import type { AccountEvent, EventPosition } from '../../../outcomes/webhook/account-event-store.ts';
import { describeEvent, eventFields } from '../../../outcomes/webhook/describe-event.ts';
import { decodeCursor, writeCursor } from '../answer/page.ts';
import { invalidField, Problem } from '../answer/problem.ts';
import { accountOf, defineOperation, type OperationCall } from '../operation.ts';
import { EventReader, EventsMissing, streamEvents } from './event-reader.ts';

const maxEvents = 1_000;
const defaultEvents = 100;
const maxWaitSeconds = 30;
const maxCursor = 200;
/** Kinds are separated by commas. */
const maxKinds = eventKindNames.join().length;

const EventView = NamedObject('Event', {
  cursor: Text('The position after this event.'),
  ...eventFields,
});

export const listEvents = defineOperation({
  id: 'listEvents',
  summary: 'Follow the events of all messages, in commit order',
  description:
    'Every event of the account, in the order in which they were committed, with the content of its webhook. Save `cursor` and send it as `after` to continue where you stopped, on any node. Events are kept as long as their messages; 410 if events after the cursor may have been deleted. With `Accept: text/event-stream`, events are sent as they happen (server-sent events): `id` is the cursor, and the `Last-Event-ID` header continues.',
  query: StrictObject({
    ...optional({
      after: Text(
        'A cursor, or `latest` for new events only. Default: from the oldest event that is kept.',
        { maxLength: maxCursor },
      ),
      limit: Whole(`Max events. Default ${defaultEvents}.`, { minimum: 1, maximum: maxEvents }),
      wait: Whole('Seconds to wait for an event if there is none yet. Default 0.', {
        minimum: 0,
        maximum: maxWaitSeconds,
      }),
      kind: Text(
        `Only events of these kinds, separated by commas: ${eventKindNames.map((name) => `\`${name}\``).join(', ')}.`,
        { maxLength: maxKinds },
      ),
    }),
  }),
  answer: NamedObject('Events', {
    items: Type.Array(EventView, { maxItems: maxEvents }),
    cursor: Text('Send it as `after` to continue.'),
    more: Flag('More events may follow right away.'),
  }),
  limited: true,
  longLived: true,
  alsoProduces: 'text/event-stream',
  gone: true,
  async handle(call) {
    const { query, request, reply } = call;
    const account = accountOf(call);
    const kinds = readKinds(query.kind);
    const isStream = request.method === 'GET' && acceptsEventStream(request.headers.accept);
    const holding = call.dependencies.streams.tryAcquire(account.id);
    if (holding === undefined)
      throw new Problem(
        'too-many-requests',
        'Your account has too many open event streams and long polls. Close some, or follow several kinds with one',
        { retryAfter: 5 },
      );
    const ended = endOf(reply, call.dependencies.stopping, holding.release);
    const reader = new EventReader({
      events: call.dependencies.events,
      database: call.dependencies.database,
      accountId: account.id,
      after: await startOf(call, isStream),
      kinds,
      ended,
    });
    let isStreaming = false;
    try {
      if (isStream) {
        const first = await reader.next(defaultEvents);
        isStreaming = true;
        reply.header('cache-control', 'no-store').header('x-accel-buffering', 'no');
        return void reply.type('text/event-stream').send(
          streamEvents({
            accountId: account.id,
            reader,
            first,
            reauthorize: call.reauthorize,
            ended,
            viewOf,
            cursorOf,
          }),
        );
      }
      const waitMs = request.method === 'GET' ? (query.wait ?? 0) * 1_000 : 0;
      const limit = query.limit ?? defaultEvents;
      const found = await reader.nextWithin(waitMs, limit);
      // A wait may outlast the caller's permission.
      if (waitMs > 0) await call.reauthorize();
      return {
        items: found.events.map((event) => ({
          cursor: cursorOf(event.position),
          ...viewOf(event),
        })),
        cursor: cursorOf(found.end),
        more: found.more,
      };
    } catch (error) {
      if (error instanceof EventsMissing) throw describeMissing(error);
      throw error;
    } finally {
      if (!isStreaming) reader.stopListening();
    }
  },
});

const viewOf = (event: AccountEvent) => describeEvent(event);

function cursorOf({ page, index }: EventPosition): string {
  return writeCursor([page, String(index)]);
}

/** Aborts once the response has ended or the service stops. */
function endOf(reply: FastifyReply, stopping: AbortSignal, release: () => void): AbortSignal {
  const closed = new AbortController();
  const end = (): void => {
    release();
    closed.abort();
  };
  if (reply.raw.closed) end();
  else reply.raw.once('close', end);
  return AbortSignal.any([closed.signal, stopping]);
}

function acceptsEventStream(accept: string | undefined): boolean {
  return (accept ?? '')
    .split(',')
    .some((type) => type.split(';')[0]?.trim().toLowerCase() === 'text/event-stream');
}

/** Where to start. A browser reconnects to the same URL, so its header counts more than the query. */
async function startOf(
  call: OperationCall<{ readonly after?: string }>,
  isStream: boolean,
): Promise<EventPosition | undefined> {
  const { 'last-event-id': lastId } = call.request.headers;
  const isResumed = isStream && typeof lastId === 'string' && lastId !== '';
  const text = isResumed ? lastId : call.query.after;
  if (text === undefined) return undefined;
  if (text === 'latest')
    return call.dependencies.events.latest(call.dependencies.database, call.params.accountId);
  const [page, index] =
    (text.length <= maxCursor && decodeCursor(text, ['integer', 'integer'])) || [];
  if (page === undefined || index === undefined || index.length > 4)
    throw invalidField(isResumed ? 'Last-Event-ID' : 'after', 'isn’t a cursor of this endpoint');
  return { page, index: Number(index) };
}

function readKinds(text: string | undefined): ReadonlySet<EventKind> | undefined {
  if (text === undefined) return undefined;
  const names = text.split(',').map((name) => name.trim());
  const known: ReadonlySet<string> = new Set(eventKindNames);
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined)
    throw invalidField('kind', `has the unknown kind ${JSON.stringify(unknown.slice(0, 40))}`);
  return new Set(names as EventKind[]);
}

function describeMissing({ outcome }: EventsMissing): Problem {
  if (outcome === 'unknown')
    return invalidField(
      'after',
      'is newer than every event of the account. If the database was restored, start with after=latest',
    );
  const reason = 'is older than the account’s retention, so events after it may have been deleted';
  return new Problem(
    'events-expired',
    `after ${reason}. Start without after for the oldest event that is kept, or with after=latest`,
    { errors: [{ field: 'after', reason }] },
  );
}
