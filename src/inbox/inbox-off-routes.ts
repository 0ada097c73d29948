import type { Http } from '../http/create-http.ts';
import { skipBody } from '../http/skip-body.ts';

/** Answers `/inbox` with an explanatory 404 if mail is not captured. */
export function registerInboxOffRoutes(http: Http): void {
  for (const url of ['/inbox', '/inbox/*']) {
    http.all(url, {
      config: { refusesAll: true },
      onRequest: (request, reply) => {
        skipBody(request, reply);
        reply.code(404).send({
          status: 404,
          message: 'There is no inbox; set DELIVERY=inbox to capture mail',
          requestId: request.id,
        });
      },
      handler: () => undefined,
    });
  }
}
