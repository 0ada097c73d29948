import type { Http } from '../http/create-http.ts';
import { supportedScope } from './token-endpoint.ts';

/**
 * `GET /.well-known/oauth-authorization-server` (RFC 8414): endpoints and capabilities, for clients that configure
 * themselves.
 */
export function registerMetadataRoutes(http: Http, publicUrl: () => string): void {
  http.get('/.well-known/oauth-authorization-server', (_request, reply) => {
    const issuer = publicUrl();
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
