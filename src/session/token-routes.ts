import type { Static } from 'typebox';
import type { RequestOrigin } from '../audit/audit-store.ts';
import { allowOnlyMethod } from '../http/allow-only-method.ts';
import type { Http } from '../http/create-http.ts';
import { type ClientAuthenticator, readClientCredentials } from './authenticate-client.ts';
import { acceptForms, type Form, formOf, originOf } from './form.ts';
import type { Grant, TokenPair } from './grants.ts';
import type { StoredIntegration } from './integration-store.ts';
import {
  answerOAuthError,
  InvalidRequest,
  InvalidScope,
  preventCaching,
  refuseOtherMethods,
  UnauthorizedClient,
  UnsupportedGrantType,
} from './oauth-errors.ts';
import type { TokenSchema } from './token-schemas.ts';
import { accessTokenSeconds } from './tokens-store.ts';

/** A request to the token endpoint with a well-formed form. */
interface TokenRequest {
  readonly authorization: string | undefined;
  readonly query: ReadonlySet<string>;
  readonly form: Form;
  readonly origin: RequestOrigin;
}

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

/** The token endpoint without HTTP (contract section 4.1): the checks in their order, then the grant. */
export class TokenEndpoint {
  readonly #clients: ClientAuthenticator;
  readonly #grants: ReadonlyMap<string, Grant>;

  constructor(clients: ClientAuthenticator, grants: readonly Grant[]) {
    this.#clients = clients;
    this.#grants = new Map(grants.map((grant) => [grant.type, grant]));
  }

  /** @throws OAuthError for the first check that fails */
  async answer({ authorization, query, form, origin }: TokenRequest): Promise<TokenPair> {
    refuseSecretsInQuery(query);
    const client = await this.#clients.authenticate(
      readClientCredentials(authorization, form),
      origin,
    );
    const grant = this.#chooseGrant(form);
    requireGrantOfClient(client, grant);
    requireKnownScope(form);
    return grant.run({ client, form, origin });
  }

  #chooseGrant(form: Form): Grant {
    const grant = this.#grants.get(form.require('grant_type'));
    if (grant === undefined)
      throw new UnsupportedGrantType(
        `grant_type must be one of ${[...this.#grants.keys()].join(', ')}`,
      );
    return grant;
  }
}

/** RFC 6749 section 2.3.1: credentials must not be in the URL, where logs would record them. */
function refuseSecretsInQuery(query: ReadonlySet<string>): void {
  if (secretParameters.some((name) => query.has(name)))
    throw new InvalidRequest('Send credentials in the form, never in the URL');
}

function requireGrantOfClient(client: StoredIntegration, grant: Grant): void {
  if (!client.grants.has(grant.type))
    throw new UnauthorizedClient('This integration is not registered for this grant');
}

function requireKnownScope(form: Form): void {
  if ((form.get('scope') ?? supportedScope) !== supportedScope)
    throw new InvalidScope(`scope must be ${supportedScope}`);
}

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
