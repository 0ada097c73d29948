import type { Http } from '../http/create-http.ts';
import { skipBody } from '../http/skip-body.ts';

/** `/inbox` where mail is not captured: 404 that says why. */
export function registerInboxOffRoutes(http: Http): void {
  for (const url of ['/inbox', '/inbox/*']) {
    http.all(url, {
      config: { refusesAll: true },
      onRequest: (request, reply) => {
        skipBody(request, reply);
        reply.code(404).send({
          status: 404,
          message: 'The inbox is off. Set DELIVERY=inbox to capture mail.',
          requestId: request.id,
        });
      },
      handler: () => undefined,
    });
  }
}
