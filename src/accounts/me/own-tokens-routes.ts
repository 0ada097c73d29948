import type { FastifyRequest } from 'fastify';
import type { Http } from '../../host/http/create-http.ts';
import { hashToken } from '../access/token-mint.ts';
import { type RequestOrigin, recordAuditEvent } from '../audit/audit-store.ts';
import { readClientCredentials } from '../oauth/authenticate-client.ts';
import type { StoredIntegration } from '../oauth/integration-store.ts';
import { answerOAuthError, preventCaching, refuseOtherMethods } from '../oauth/oauth-errors.ts';
import { revokeAccessToken, revokeReachedTokens } from '../oauth/revoke-tokens-store.ts';
import { supportedScope } from '../oauth/token-routes.ts';
import { findOwnToken, type OwnToken } from '../oauth/tokens-store.ts';
import type { SessionContext } from '../session-context.ts';
import { acceptForms, formOf, originOf } from '../sign-in/form.ts';

/** Finds a live token of a client; its prefix reveals the kind, so no hint is needed. */
async function findToken(
  { database, mint }: SessionContext,
  token: string,
  { clientId }: StoredIntegration,
): Promise<(OwnToken & { readonly kind: 'access' | 'refresh' }) | undefined> {
  const kind = (['access', 'refresh'] as const).find((one) => mint.recognizes(one, token));
  const found = kind && (await findOwnToken(database.kysely, kind, hashToken(token), clientId));
  return found && { ...found, kind };
}

/**
 * Revokes a token of a client on all nodes; with a refresh token, also the access tokens of its person/client
 * pair (RFC 7009 section 2.1). Unknown tokens and those of other clients are ignored.
 */
async function revokeToken(
  context: SessionContext,
  token: string,
  client: StoredIntegration,
  origin: RequestOrigin,
): Promise<void> {
  const found = await findToken(context, token, client);
  if (found === undefined) return;
  const { kysely } = context.database;
  const { clientId, accountId } = client;
  const { personId, kind } = found;
  await kysely.transaction().execute(async (transaction) => {
    if (kind === 'refresh')
      await revokeReachedTokens(transaction, { personId, reach: 'all' }, clientId);
    else await revokeAccessToken(transaction, hashToken(token), clientId);
  });
  await recordAuditEvent(kysely, { kind: 'token_revoked', personId, clientId, accountId, origin });
}

/**
 * `POST /revoke` (RFC 7009): revokes a token of the client; 200 even if there was none.
 * `POST /introspect` (RFC 7662): whether a token of the client is live, and whose it is; for the client's own tokens
 * only.
 */
export function registerOwnTokensRoutes(http: Http, context: SessionContext): void {
  const { clients, publicUrl } = context;
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
      await revokeToken(context, formOf(request).require('token'), client, originOf(request));
      // The body has no meaning (RFC 7009 section 2.2), but some clients insist on JSON.
      return preventCaching(reply).send({});
    });

    refuseOtherMethods(scope, '/revoke', 'revocation');
    refuseOtherMethods(scope, '/introspect', 'introspection');

    scope.post('/introspect', async (request, reply) => {
      const client = await authenticate(request);
      const found = await findToken(context, formOf(request).require('token'), client);
      if (found === undefined) return preventCaching(reply).send({ active: false });
      return preventCaching(reply).send({
        active: true,
        scope: supportedScope,
        client_id: client.clientId,
        username: found.email,
        sub: found.personId,
        iss: publicUrl(),
        token_type: found.kind === 'refresh' ? 'refresh_token' : 'bearer',
        iat: found.issuedAt ?? undefined,
        exp: found.expiresAt ?? undefined,
        account_id: found.accountId ?? undefined,
      });
    });
  });
}
