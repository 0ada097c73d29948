import type { HTTPMethods } from 'fastify';
import type { Http } from './create-http.ts';
import { skipBody } from './read-body.ts';

/**
 * Responds to other methods on a path with 405 and the allowed one (RFC 9110 section 15.5.6): a 404 would look like a
 * wrong URL.
 * @param url as registered in the routes
 */
export function allowOnlyMethod(http: Http, method: 'GET' | 'POST', url: string): void {
  const allowed = method === 'GET' ? ['GET', 'HEAD'] : [method];
  const others: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
  http.route({
    method: others.filter((other) => !allowed.includes(other)),
    url,
    config: { refusesAll: true },
    onRequest: (request, reply) => {
      skipBody(request, reply);
      reply
        .code(405)
        .header('allow', allowed.join(', '))
        .send({ status: 405, message: 'Method Not Allowed', requestId: request.id });
    },
    handler: () => undefined,
  });
}
