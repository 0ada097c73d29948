import type { IncomingMessage } from 'node:http';
import type { BodyShare } from './limits/bytes-in-flight.ts';
import { formatBytes } from './limits/route-limit.ts';

/** The bytes of a body, or why there are none. */
export type RawBody = Buffer | UnusableBody;

interface UnusableBody {
  readonly unusable: string;
  /** The caller may try the same again. */
  readonly overCapacity?: true;
  /** Nothing more of it is worth waiting for. */
  readonly tooSlow?: true;
}

const incompleteBody: UnusableBody = { unusable: 'the body was not sent whole' };
const overCapacity: UnusableBody = {
  unusable: 'too many bodies are in progress',
  overCapacity: true,
};

/**
 * Reads the body of a request, whatever its content type says.
 * @param maxBytes bytes; of a larger body nothing is kept, and what is still to come is let go by
 * @param share counts what is kept
 * @param seconds that the body may take to arrive
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  share?: BodyShare,
  seconds = 30,
): Promise<RawBody> {
  const contentLength = request.headers['content-length'];
  const length = contentLength === undefined ? undefined : Number(contentLength);
  if (length !== undefined && length > maxBytes) return Promise.resolve(tooLarge(maxBytes));
  if (request.destroyed) return Promise.resolve(incompleteBody);
  if (share?.findExceededBudget(length ?? 0) !== undefined) return Promise.resolve(overCapacity);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let read = 0;
    let refused = false;
    const refuse = (body: UnusableBody): void => {
      refused = true;
      chunks.length = 0;
      clearTimeout(timeout);
      resolve(body);
    };
    const finish = (): void => {
      if (refused) return;
      clearTimeout(timeout);
      const [first] = chunks;
      resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks));
    };
    const timeout = setTimeout(
      () =>
        refuse({ unusable: `the body did not arrive within ${seconds} seconds`, tooSlow: true }),
      seconds * 1_000,
    );
    request.on('data', (chunk: Buffer) => {
      read += chunk.length;
      if (refused) return;
      if (read > maxBytes) return refuse(tooLarge(maxBytes));
      if (share?.claim(chunk.length) !== undefined) return refuse(overCapacity);
      chunks.push(chunk);
      // As long as it was said to be (RFC 9112 section 6.2): nothing of it can be missing.
      if (read === length) finish();
    });
    request.on('end', () => {
      if (length === undefined || length === 0) finish();
    });
    request.on('error', () => refuse(incompleteBody));
  });
}

/** Bytes of a body that nobody wants which are still taken, so that its sender comes to read the answer (RFC 9112 section 9.6). */
const maxDrainBytes = 4 * 1024 * 1024;
/** How long they may take. */
const drainTimeoutMs = 15_000;

/** Chunks of such bodies that a process takes in a turn, and how long a turn is. A chunk has 64 KiB at most, so 50 MiB a second. */
const chunksPerTurn = 8;
const turnMs = 10;

/** Requests whose next chunk waits for its turn. */
const waiting = new Set<IncomingMessage>();
let turns: NodeJS.Timeout | undefined;

/**
 * Lets what is still to come of a request's body go by, and ends the connection where that is too much. It is taken in
 * turns: a socket that always has more to read would keep the event loop from all others.
 * @returns false where it is too much by what was announced: the connection is to end with the answer
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

function tooLarge(maxBytes: number): UnusableBody {
  return { unusable: `the body is larger than ${formatBytes(maxBytes)}` };
}
