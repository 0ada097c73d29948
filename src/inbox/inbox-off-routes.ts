import type { Http } from '../http/create-http.ts';
import { skipBody } from '../http/read-body.ts';

/** `/inbox` if mail isn't captured: 404 with the reason. */
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
