import type { Static } from 'typebox';
import { allowOnlyMethod } from '../../host/http/allow-only-method.ts';
import type { Http } from '../../host/http/create-http.ts';
import { readQueryParameter } from '../../host/http/query-parameter.ts';
import type { SessionContext } from '../session-context.ts';
import { acceptForms, formOf, originOf } from '../sign-in/form.ts';
import { readClientCredentials } from './authenticate-client.ts';
import { grants } from './grants.ts';
import type { GrantType } from './integration-store.ts';
import {
  answerOAuthError,
  OAuthError,
  preventCaching,
  refuseOtherMethods,
} from './oauth-errors.ts';
import type { TokenSchema } from './token-schemas.ts';
import { accessTokenSeconds } from './tokens-store.ts';

/** The only supported scope (contract section 4.2). */
export const supportedScope = 'PRODUCTION';

const secretParameters = [
  'client_id',
  'client_secret',
  'username',
  'password',
  'refresh_token',
  'code',
  'code_verifier',
];

/**
 * `POST /token` (contract section 4.1): takes the form of a grant, makes the checks in their order, and returns exactly the four
 * members of section 2.1. Errors follow RFC 6749 section 5.2.
 */
export function registerTokenRoutes(http: Http, context: SessionContext): void {
  http.register(async (scope) => {
    acceptForms(scope);
    scope.setErrorHandler(answerOAuthError);
    scope.post('/token', async (request, reply) => {
      const form = formOf(request);
      // RFC 6749 section 2.3.1: credentials must not be in the URL, where logs would record them.
      const query = request.query as Readonly<Record<string, unknown>>;
      if (secretParameters.some((name) => Object.hasOwn(query, name)))
        throw new OAuthError('invalid_request', 'Send credentials in the form, never in the URL');
      const origin = originOf(request);
      const credentials = readClientCredentials(request.headers.authorization, form);
      const client = await context.clients.authenticate(credentials, origin);
      const type = form.get('grant_type') ?? grantTypeIn(query) ?? form.require('grant_type');
      if (!isGrantType(type))
        throw new OAuthError(
          'unsupported_grant_type',
          `grant_type must be one of ${Object.keys(grants).join(', ')}`,
        );
      if (!client.grants.has(type))
        throw new OAuthError(
          'unauthorized_client',
          'This integration is not registered for this grant',
        );
      if ((form.get('scope') ?? supportedScope) !== supportedScope)
        throw new OAuthError('invalid_scope', `scope must be ${supportedScope}`);
      const tokens = await grants[type](context, { client, form, origin });
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

/**
 * The grant type in the query, where the origin's own description of its interface puts it, so that clients made from that send it
 * there.
 * @throws OAuthError if it is repeated (RFC 6749 section 3.2)
 */
function grantTypeIn(query: Readonly<Record<string, unknown>>): string | undefined {
  return readQueryParameter(
    query,
    'grant_type',
    () => new OAuthError('invalid_request', 'The parameter grant_type is repeated'),
  );
}

function isGrantType(text: string): text is GrantType {
  return Object.hasOwn(grants, text);
}

/** The host and port of a request to `localhost`; undefined for every other one. */
function localName(host: string | undefined): string | undefined {
  return host !== undefined && /^localhost(?::\d{1,5})?$/i.test(host) ? host : undefined;
}

function isLoopback(issuer: string): boolean {
  const { protocol, hostname } = new URL(issuer);
  return protocol === 'http:' && (hostname === '127.0.0.1' || hostname === '[::1]');
}

/**
 * `GET /.well-known/oauth-authorization-server` (RFC 8414): endpoints and capabilities, for clients that configure
 * themselves.
 */
export function registerMetadataRoutes(http: Http, publicUrl: () => string): void {
  const url = '/.well-known/oauth-authorization-server';
  allowOnlyMethod(http, 'GET', url);
  http.get(url, (request, reply) => {
    const issuer = publicUrl();
    // Public facts, which clients in a browser read from other origins (Fetch standard, section 3.2).
    reply.header('access-control-allow-origin', '*');
    const local = localName(request.headers.host);
    if (local !== undefined && isLoopback(issuer)) {
      // A client would reject the metadata, because its issuer isn't the address it asked (RFC 8414 section 3.3).
      reply.code(400).send({
        error: 'invalid_request',
        error_description: `The issuer of this service is ${issuer}, not http://${local}. Use ${issuer}, or start the service with PUBLIC_URL=http://${local}`,
      });
      return;
    }
    const authentication = ['client_secret_post', 'client_secret_basic'];
    reply.header('cache-control', 'public, max-age=300').send({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      revocation_endpoint: `${issuer}/revoke`,
      introspection_endpoint: `${issuer}/introspect`,
      scopes_supported: [supportedScope],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'password', 'refresh_token'],
      token_endpoint_auth_methods_supported: authentication,
      revocation_endpoint_auth_methods_supported: authentication,
      introspection_endpoint_auth_methods_supported: authentication,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    });
  });
}
