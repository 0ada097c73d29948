import type { FastifyReply, FastifyRequest } from 'fastify';
import { drainBody } from './read-body.ts';

/**
 * For a request whose response doesn't depend on its body: removes the header fields that make the framework read one. If the
 * body is too large to discard, the connection closes after the response.
 */
export function skipBody({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (!drainBody(raw)) reply.header('connection', 'close');
  for (const name of ['content-type', 'content-length', 'transfer-encoding'])
    delete raw.headers[name];
}
