import type { FastifyReply, FastifyRequest } from 'fastify';
import { letRestGoBy } from './read-body.ts';

/**
 * For a request that is answered whatever its body says: without its header fields the framework reads none. The
 * connection ends with the answer where the body is too large to let it go by.
 */
export function leaveBodyUnread({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (!letRestGoBy(raw)) reply.header('connection', 'close');
  for (const name of ['content-type', 'content-length', 'transfer-encoding'])
    delete raw.headers[name];
}
