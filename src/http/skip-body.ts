import type { FastifyReply, FastifyRequest } from 'fastify';
import { drainBody } from './read-body.ts';

/**
 * For a request that is answered whatever its body says: without its header fields the framework reads none. The
 * connection ends with the answer where the body is too large to let it go by.
 */
export function skipBody({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (!drainBody(raw)) reply.header('connection', 'close');
  for (const name of ['content-type', 'content-length', 'transfer-encoding'])
    delete raw.headers[name];
}
