import type { HTTPMethods } from 'fastify';
import type { Http } from '../http/create-http.ts';
import { skipBody } from '../http/skip-body.ts';
import { preventCaching } from './answer-oauth-error.ts';

const others: HTTPMethods[] = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Responds to everything but POST on an OAuth endpoint with 405 and `Allow`, as an OAuth error. */
export function refuseOtherMethods(http: Http, url: string, name: string): void {
  http.route({
    method: others,
    url,
    config: { refusesAll: true },
    onRequest: (request, reply) => {
      skipBody(request, reply);
      preventCaching(reply)
        .code(405)
        .header('allow', 'POST')
        .send({
          error: 'invalid_request',
          error_description: `The ${name} endpoint requires POST`,
        });
    },
    handler: () => undefined,
  });
}
