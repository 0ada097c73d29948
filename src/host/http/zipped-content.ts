import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Text that never changes while the process runs; compressed once, for clients that accept it. */
export class ZippedContent {
  readonly #read: () => Promise<Buffer>;
  #plain: Promise<Buffer> | undefined;
  #zipped: Promise<Buffer> | undefined;

  /** @param read called with the first request */
  constructor(read: () => Promise<Buffer>) {
    this.#read = read;
  }

  async send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    this.#plain ??= this.#read();
    const plain = await this.#plain;
    reply.header('vary', 'accept-encoding');
    if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(plain);
    this.#zipped ??= promisify(gzip)(plain);
    return reply.header('content-encoding', 'gzip').send(await this.#zipped);
  }
}
