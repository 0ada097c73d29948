import type { RequestOrigin } from '../audit/audit-store.ts';
import type { ClientAuthenticator } from './authenticate-client.ts';
import { readClientCredentials } from './client-credentials.ts';
import type { Form } from './form.ts';
import type { Grant, TokenPair } from './grants/grant.ts';
import type { StoredIntegration } from './integration-store.ts';
import {
  InvalidRequest,
  InvalidScope,
  UnauthorizedClient,
  UnsupportedGrantType,
} from './oauth-errors.ts';

/** A request to the token endpoint with a well-formed form. */
export interface TokenRequest {
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
