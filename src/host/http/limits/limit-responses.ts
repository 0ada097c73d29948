import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { Limiter } from '../../../base/fairness/limiter.ts';
import { policies } from '../../../base/fairness/policies.ts';
import { responseOverCapacity } from './body-traffic.ts';
import type { Peers } from './peers.ts';

/** Smaller responses aren't counted: the connection limits bound them. */
const minCountedBytes = 16 * 1_024;

/** The responses that wait in memory for their clients to read them, shared by networks. */
export class UnsentResponses {
  readonly #limiter: Limiter;
  readonly #peers: Peers;

  /** @param share of the memory, from `memoryShare` */
  constructor(peers: Peers, share = 1) {
    this.#peers = peers;
    this.#limiter = new Limiter(policies.unsentResponses, share);
  }

  /** Bytes that count. */
  get bytes(): number {
    return this.#limiter.held;
  }

  /** Counts a response until it is sent. @returns false if there is no capacity for it */
  hold(request: IncomingMessage, response: ServerResponse, bytes: number): boolean {
    if (bytes < minCountedBytes) return true;
    const { socket } = request;
    const before = bytesSent(socket);
    const holding = this.#limiter.tryAcquire(this.#peers.networksOf(request), {
      amount: bytes,
      evictable: {
        progress: () => bytesSent(socket) - before,
        evict: () => socket.destroy(),
      },
    });
    if (holding === undefined) return false;
    if (response.closed || socket.destroyed) holding.release();
    else response.once('close', holding.release);
    return true;
  }
}

/** Applies the limit to every response of the framework. Streams keep only a few kilobytes in memory. */
export function limitResponses(http: FastifyInstance, unsent: UnsentResponses): void {
  http.addHook('onSend', (request, reply, payload, done) => {
    const bytes =
      typeof payload === 'string'
        ? Buffer.byteLength(payload)
        : payload instanceof Uint8Array
          ? payload.length
          : 0;
    if (unsent.hold(request.raw, reply.raw, bytes)) done(null, payload);
    else done(responseOverCapacity());
  });
}

/** What the kernel has taken from a connection; before TLS is added. */
export function bytesSent(socket: Socket): number {
  const { _handle: handle } = socket as unknown as {
    readonly _handle: { readonly bytesWritten: number; readonly writeQueueSize: number } | null;
  };
  return handle === null ? socket.bytesWritten : handle.bytesWritten - handle.writeQueueSize;
}
