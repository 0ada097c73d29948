import type { FastifyRequest } from 'fastify';
import type { Http } from '../http/create-http.ts';
import { answerOAuthError, preventCaching } from './answer-oauth-error.ts';
import type { ClientAuthenticator } from './authenticate-client.ts';
import { readClientCredentials } from './client-credentials.ts';
import { acceptForms, formOf, originOf } from './form-body.ts';
import type { StoredIntegration } from './integration-store.ts';
import type { OwnTokens } from './own-tokens.ts';
import { refuseOtherMethods } from './refuse-other-methods.ts';
import { supportedScope } from './token-endpoint.ts';

export interface OwnTokensRoutesDependencies {
  readonly clients: ClientAuthenticator;
  readonly tokens: OwnTokens;
  readonly publicUrl: () => string;
}

/**
 * `POST /revoke` (RFC 7009): revokes a token of the client; 200 even if there was none.
 * `POST /introspect` (RFC 7662): whether a token of the client is live, and whose it is; for the client's own tokens
 * only.
 */
export function registerOwnTokensRoutes(
  http: Http,
  dependencies: OwnTokensRoutesDependencies,
): void {
  const { clients, tokens, publicUrl } = dependencies;
  const authenticate = (request: FastifyRequest): Promise<StoredIntegration> =>
    clients.authenticate(
      readClientCredentials(request.headers.authorization, formOf(request)),
      originOf(request),
    );

  http.register(async (scope) => {
    acceptForms(scope);
    scope.setErrorHandler(answerOAuthError);

    scope.post('/revoke', async (request, reply) => {
      const client = await authenticate(request);
      await tokens.revoke(formOf(request).require('token'), client, originOf(request));
      // The body has no meaning (RFC 7009 section 2.2), but some clients insist on JSON.
      return preventCaching(reply).send({});
    });

    refuseOtherMethods(scope, '/revoke', 'revocation');
    refuseOtherMethods(scope, '/introspect', 'introspection');

    scope.post('/introspect', async (request, reply) => {
      const client = await authenticate(request);
      const found = await tokens.find(formOf(request).require('token'), client);
      if (found === undefined) return preventCaching(reply).send({ active: false });
      return preventCaching(reply).send({
        active: true,
        scope: supportedScope,
        client_id: client.clientId,
        username: found.email,
        sub: found.personId,
        iss: publicUrl(),
        token_type: found.expiresAt === undefined ? 'refresh_token' : 'bearer',
        iat: found.issuedAt,
        exp: found.expiresAt,
        account_id: found.accountId,
      });
    });
  });
}
