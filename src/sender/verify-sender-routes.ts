import type { FastifyReply } from 'fastify';
import type { Http } from '../http/create-http.ts';
import { plainPage } from '../http/plain-page.ts';
import type { SenderProofs } from './sender-proofs.ts';

/**
 * `GET /verify-sender/{token}` shows a page with one button and changes nothing, since programs follow links;
 * `POST` verifies the sender. 404 for a token that is unknown, spent or a day old.
 */
export function registerVerifySenderRoutes(http: Http, proofs: SenderProofs): void {
  http.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) =>
      done(null, body),
    );
    scope.get('/verify-sender/:token', (_request, reply) =>
      show(
        reply,
        'Let mail be sent from your address?',
        'Somebody set your address up as a sender. If you do not know of it, close this page.',
        'Allow it',
      ),
    );
    scope.post<{ Params: { token: string } }>('/verify-sender/:token', async (request, reply) => {
      const address = await proofs.spend(request.params.token);
      if (address === undefined) {
        const text = 'Links work once and for a day. Please ask for another one.';
        return show(reply.code(404), 'This link does not work.', text);
      }
      return show(reply, 'Done.', `Mail can be sent from ${address} now.`);
    });
  });
}

function show(reply: FastifyReply, title: string, text: string, label?: string): FastifyReply {
  return reply
    .header('cache-control', 'no-store')
    .header('referrer-policy', 'no-referrer')
    .header(
      'content-security-policy',
      "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    )
    .type('text/html; charset=utf-8')
    .send(plainPage(title, text, label === undefined ? undefined : { label }));
}
