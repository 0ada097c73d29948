import type { FastifyRequest } from 'fastify';
import { hashToken } from '../access/token-mint.ts';
import type { RequestOrigin } from '../audit/audit-store.ts';
import type { Http } from '../http/create-http.ts';
import { readClientCredentials } from './authenticate-client.ts';
import { acceptForms, formOf, originOf } from './form.ts';
import type { StoredIntegration } from './integration-store.ts';
import { answerOAuthError, preventCaching, refuseOtherMethods } from './oauth-errors.ts';
import { revokeAccessToken, revokeReachedTokens } from './revoke-tokens-store.ts';
import type { SessionContext } from './session-context.ts';
import { supportedScope } from './token-routes.ts';
import { findOwnAccessToken, findOwnRefreshToken, type OwnToken } from './tokens-store.ts';

/** Introspection and revocation of a client's own tokens. */
class OwnTokens {
  readonly #context: SessionContext;

  constructor(context: SessionContext) {
    this.#context = context;
  }

  /** Finds a live token of this client; its prefix reveals the kind, so no hint is needed. */
  async find(token: string, { clientId }: StoredIntegration): Promise<OwnToken | undefined> {
    const { database, mint } = this.#context;
    if (mint.recognizes('access', token))
      return findOwnAccessToken(database, hashToken(token), clientId);
    if (mint.recognizes('refresh', token))
      return findOwnRefreshToken(database, hashToken(token), clientId);
    return undefined;
  }

  /**
   * Revokes a token of this client on all nodes; with a refresh token, also the access tokens of its person/client
   * pair (RFC 7009 section 2.1). Unknown tokens and those of other clients are ignored.
   */
  async revoke(token: string, client: StoredIntegration, origin: RequestOrigin): Promise<void> {
    const found = await this.find(token, client);
    if (found === undefined) return;
    const { database, mint, audit } = this.#context;
    const { clientId, accountId } = client;
    await database.kysely.transaction().execute(async (transaction) => {
      if (mint.recognizes('refresh', token))
        await revokeReachedTokens(
          transaction,
          { personId: found.personId, reach: 'all' },
          clientId,
        );
      else await revokeAccessToken(transaction, hashToken(token), clientId);
    });
    await audit.record({
      kind: 'token_revoked',
      outcome: 'success',
      personId: found.personId,
      clientId,
      accountId,
      origin,
    });
  }
}

/**
 * `POST /revoke` (RFC 7009): revokes a token of the client; 200 even if there was none.
 * `POST /introspect` (RFC 7662): whether a token of the client is live, and whose it is; for the client's own tokens
 * only.
 */
export function registerOwnTokensRoutes(http: Http, context: SessionContext): void {
  const { clients, publicUrl } = context;
  const tokens = new OwnTokens(context);
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
