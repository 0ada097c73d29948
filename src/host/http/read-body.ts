import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ByteCollector } from '../../base/fairness/byte-collector.ts';
import type { BodyShare } from './limits/body-traffic.ts';
import { type LargeBodySpace, largeBodySeconds } from './limits/large-bodies.ts';
import { formatBytes } from './limits/route-limits.ts';

/** The bytes of a body, or why it can't be used. */
export type RawBody = Buffer | UnusableBody;

interface UnusableBody {
  readonly unusable: string;
  /** The caller can retry the same request. */
  readonly overCapacity?: true;
  /** Waiting for the rest is pointless. */
  readonly tooSlow?: true;
}

const incompleteBody: UnusableBody = { unusable: 'the body was not sent completely' };
const overCapacity: UnusableBody = {
  unusable: 'too many request bodies are in progress',
  overCapacity: true,
};

interface ReadBodyOptions {
  /** Counts the bytes kept. */
  readonly share?: BodyShare;
  /** That the body may take to arrive. */
  readonly seconds?: number;
  /** Space for a body that may be larger. */
  readonly space?: LargeBodySpace | undefined;
  /** Asked for such space once a body without an announced length exceeds `maxBytes`; undefined without capacity. */
  readonly grow?: () => Promise<LargeBodySpace | undefined>;
}

/**
 * Reads the body of a request, regardless of its content type.
 * @param maxBytes a larger body is discarded, including what is still to come
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  { share, seconds = 30, space, grow }: ReadBodyOptions = {},
): Promise<RawBody> {
  const contentLength = request.headers['content-length'];
  const length = contentLength === undefined ? undefined : Number(contentLength);
  const firstLimit = space?.maxBytes ?? maxBytes;
  if (length !== undefined && length > firstLimit) return Promise.resolve(tooLarge(firstLimit));
  if (request.destroyed) return Promise.resolve(incompleteBody);
  return new Promise((resolve) => {
    const collected = new ByteCollector();
    /** For a large body of known length: as chunks and as a whole, it would need twice the memory. */
    let whole: Buffer | undefined;
    let read = 0;
    let refused = false;
    let limit = maxBytes;
    let grown = grow === undefined;
    let timeout: NodeJS.Timeout | undefined;
    let filled: LargeBodySpace | undefined;
    /** What has ended makes no room for others. */
    const stopWatching = (): void => {
      clearTimeout(timeout);
      share?.settle();
      filled?.watch(undefined);
    };
    const refuse = (body: UnusableBody): void => {
      refused = true;
      collected.clear();
      whole = undefined;
      stopWatching();
      resolve(body);
    };
    if (share !== undefined) share.onEvict = () => refuse(overCapacity);
    const refuseAfter = (max: number): void => {
      timeout = setTimeout(() => refuse(tooSlow(max)), max * 1_000);
    };
    const expand = (into: LargeBodySpace): void => {
      limit = into.maxBytes;
      filled = into;
      clearTimeout(timeout);
      refuseAfter(largeBodySeconds);
      into.watch({ progress: () => read, evict: () => refuse(overCapacity) });
    };
    const waitToGrow = async (): Promise<void> => {
      grown = true;
      clearTimeout(timeout);
      request.pause();
      const more = await grow?.();
      if (!refused) {
        if (more === undefined) refuse(overCapacity);
        else if (read > more.maxBytes) refuse(tooLarge(more.maxBytes));
        else expand(more);
      }
      request.resume();
    };
    const finish = (): void => {
      if (refused) return;
      stopWatching();
      resolve(whole ?? collected.take());
    };
    if (space === undefined) refuseAfter(seconds);
    else expand(space);
    request.on('data', (chunk: Buffer) => {
      read += chunk.length;
      if (refused) return;
      if (read > limit && grown) return refuse(tooLarge(limit));
      // What was reserved as space isn't claimed again.
      if (filled === undefined && share?.claim(chunk.length) !== undefined)
        return refuse(overCapacity);
      if (space !== undefined && length !== undefined) {
        whole ??= space.take(length);
        chunk.copy(whole, read - chunk.length);
      } else collected.add(chunk);
      if (read > limit) return void waitToGrow();
      // All announced bytes are here (RFC 9112 section 6.2), so nothing can be missing.
      if (read === length) finish();
    });
    request.on('end', () => {
      if (length === undefined || length === 0) finish();
    });
    request.on('error', () => refuse(incompleteBody));
  });
}

/**
 * Bytes to read from an unwanted body so that its sender gets to read the response (RFC 9112 section 9.6): the largest that a
 * send with attachments can have. A reverse proxy would return 502 for a connection that closes before.
 */
const maxDrainBytes = 36 * 1024 * 1024;
/** Time limit for reading them. */
const drainTimeoutMs = 15_000;

/**
 * Chunks of unwanted bodies that a process reads per turn, and the length of a turn. Chunks have at most 64 KiB, so
 * this allows 50 MiB per second.
 */
const chunksPerTurn = 8;
const turnMs = 10;

/** Requests whose next chunk waits for its turn. */
const waiting = new Set<IncomingMessage>();
let turns: NodeJS.Timeout | undefined;

/**
 * Discards the rest of a request's body, and closes the connection if there is too much of it. Reads in turns: a
 * socket that always has data would starve all others.
 * @returns false if the announced length is too much: close the connection after the response
 */
export function drainBody(request: IncomingMessage): boolean {
  if (request.complete) return true;
  if (Number(request.headers['content-length'] ?? 0) > maxDrainBytes) return false;
  let drained = 0;
  const timeout = setTimeout(() => request.destroy(), drainTimeoutMs).unref();
  request.once('close', () => {
    clearTimeout(timeout);
    waiting.delete(request);
  });
  request.on('data', (chunk: Buffer) => {
    drained += chunk.length;
    if (drained > maxDrainBytes) {
      request.destroy();
      return;
    }
    request.pause();
    waiting.add(request);
    turns ??= setInterval(drainNextChunks, turnMs);
  });
  return true;
}

function drainNextChunks(): void {
  let left = chunksPerTurn;
  for (const request of waiting) {
    if (left === 0) return;
    left -= 1;
    waiting.delete(request);
    request.resume();
  }
  if (waiting.size > 0) return;
  clearInterval(turns);
  turns = undefined;
}

function tooSlow(seconds: number): UnusableBody {
  return { unusable: `the body did not arrive within ${seconds} seconds`, tooSlow: true };
}

function tooLarge(maxBytes: number): UnusableBody {
  return { unusable: `the body is larger than ${formatBytes(maxBytes)}` };
}

/**
 * For a request whose response doesn't depend on its body: removes the header fields that make the framework read one. If the
 * body is too large to discard, the connection closes after the response.
 */
export function skipBody({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (!drainBody(raw)) reply.header('connection', 'close');
  for (const name of ['content-type', 'content-length', 'transfer-encoding'])
    delete raw.headers[name];
}
