import { allowOnlyMethod } from '../http/allow-only-method.ts';
import type { Http } from '../http/create-http.ts';
import { supportedScope } from './token-endpoint.ts';

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
