import type { FastifyRequest } from 'fastify';
import type { RequestOrigin } from '../audit/audit-store.ts';
import type { Http } from '../http/create-http.ts';
import { Form, parseForm } from './form.ts';
import { InvalidRequest } from './oauth-errors.ts';

/** Makes the routes of this scope accept forms only: `request.body` is a `Form`, or undefined without a body. */
export function acceptForms(scope: Http): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (request, body, done) => {
      const { 'content-encoding': coding = 'identity' } = request.headers;
      if (coding.toLowerCase() !== 'identity')
        return done(
          new InvalidRequest('A form can’t be compressed; send it without Content-Encoding'),
        );
      try {
        done(null, parseForm(body.toString()));
      } catch (error) {
        done(error as Error);
      }
    },
  );
  scope.addContentTypeParser('*', (_request, body, done) => {
    body.resume();
    done(new InvalidRequest('The body must be application/x-www-form-urlencoded'));
  });
}

/** The form of a request; a missing body is an empty form. */
export function formOf(request: FastifyRequest): Form {
  return request.body instanceof Form ? request.body : new Form(new Map());
}

/** The origin of a request; the address is the client's, taking trusted proxies into account. */
export function originOf(request: FastifyRequest): RequestOrigin {
  return { remoteAddress: request.ip, requestId: request.id };
}
