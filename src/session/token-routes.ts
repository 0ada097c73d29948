import type { Static } from 'typebox';
import type { Http } from '../http/create-http.ts';
import { answerOAuthError, preventCaching } from './answer-oauth-error.ts';
import { acceptForms, formOf, originOf } from './form-body.ts';
import { accessTokenSeconds } from './issue-tokens-store.ts';
import { refuseOtherMethods } from './refuse-other-methods.ts';
import type { TokenEndpoint } from './token-endpoint.ts';
import type { TokenSchema } from './token-schemas.ts';

/**
 * `POST /token` (contract section 4.1): takes the form of a grant and returns exactly the four members of section
 * 2.1. Errors follow RFC 6749 section 5.2.
 */
export function registerTokenRoutes(http: Http, endpoint: TokenEndpoint): void {
  http.register(async (scope) => {
    acceptForms(scope);
    scope.setErrorHandler(answerOAuthError);
    scope.post('/token', async (request, reply) => {
      const tokens = await endpoint.answer({
        authorization: request.headers.authorization,
        query: new Set(Object.keys(request.query as object)),
        form: formOf(request),
        origin: originOf(request),
      });
      return preventCaching(reply).send({
        token_type: 'bearer',
        expires_in: accessTokenSeconds,
        access_token: tokens.accessToken,
        refresh_token: tokens.refreshToken,
      } satisfies Static<typeof TokenSchema>);
    });
    refuseOtherMethods(scope, '/token', 'token');
  });
}
