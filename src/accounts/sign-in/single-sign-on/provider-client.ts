import { LRUCache } from 'lru-cache';
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  clockSkew,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  type ServerMetadata,
} from 'openid-client';
import { Limiter } from '../../../base/fairness/limiter.ts';
import { policies } from '../../../base/fairness/policies.ts';
import { PublicNetworks } from '../../../base/network/public-networks.ts';
import { Busy } from '../../../base/values/errors.ts';
import type { SessionModuleDependencies } from '../session-dependencies.ts';
import { fetchFromProvider, isLoopback } from './provider-fetch.ts';
import { type ProviderClaims, readProviderClaims } from './read-provider-claims.ts';
import type { SignInProvider } from './sign-in-provider.ts';

/** Seconds that a provider may take for one request. */
const requestSeconds = 10;
/** Seconds by which a provider's clock may differ (OpenID Connect Core section 3.1.3.7, numbers 9 and 10). */
const toleratedSkewSeconds = 60;
/** For this long, a provider's metadata is used without fetching it again. */
const metadataMs = 10 * 60_000;
const maxCachedProviders = 500;
/** After this many seconds, a person's sign-in at the provider is too old; the longest session here has the same age. */
const maxSignInSeconds = 7 * 86_400;

const usedEndpoints = [
  'authorization_endpoint',
  'token_endpoint',
  'jwks_uri',
  'userinfo_endpoint',
] as const;

/** The provider couldn't be reached, or its metadata can't be used. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable';
}

/** The provider's response can't sign anyone in: it is an error, a forgery, or meant for another sign-in. */
export class ProviderRefusal extends Error {
  override readonly name = 'ProviderRefusal';
}

/** What a sign-in sends to the provider and expects back. */
export interface ProviderRequest {
  readonly redirectUri: string;
  /** Returned unchanged (RFC 6749 section 10.12). */
  readonly state: string;
  /** Returned in the ID token (OpenID Connect Core section 3.1.2.1). */
  readonly nonce: string;
  /** Proves that the code is redeemed by who requested it (RFC 7636). */
  readonly codeVerifier: string;
  /** The person must sign in at the provider again. */
  readonly again: boolean;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

/** Talks to OpenID Connect providers: authorization code flow with PKCE, state and nonce. */
export class ProviderClient {
  readonly #dependencies: SessionModuleDependencies;
  /** Where accounts' providers may be; the installation's may be anywhere. */
  readonly #networks: PublicNetworks;
  readonly #metadata: LRUCache<string, Promise<ServerMetadata>>;
  // Strangers can cause requests to a provider, so a slow provider must not delay the others.
  readonly #slots = new Limiter(policies.providerRequests);

  constructor(dependencies: SessionModuleDependencies) {
    this.#dependencies = dependencies;
    this.#networks = new PublicNetworks(dependencies.providerNetworks);
    this.#metadata = new LRUCache({
      max: maxCachedProviders,
      ttl: metadataMs,
      perf: { now: () => dependencies.clock.monotonic() },
    });
  }

  /** Where to send the browser. @throws ProviderUnavailable */
  async authorizationUrl(provider: SignInProvider, request: ProviderRequest): Promise<string> {
    const configuration = this.#configure(provider, await this.#readMetadata(provider));
    const url = buildAuthorizationUrl(configuration, {
      redirect_uri: request.redirectUri,
      scope: scopeFor(configuration.serverMetadata()),
      state: request.state,
      nonce: request.nonce,
      code_challenge: await calculatePKCECodeChallenge(request.codeVerifier),
      code_challenge_method: 'S256',
      // With `max_age`, providers say when the person signed in.
      ...(request.again
        ? { prompt: 'login', max_age: '0' }
        : { max_age: String(maxSignInSeconds) }),
    });
    return url.href;
  }

  /**
   * Redeems the provider's response and checks its ID token: signature, issuer, audience, nonce and times (OpenID Connect
   * Core section 3.1.3.7), and the issuer of the response (RFC 9207).
   * @param responseUrl the callback with the response's parameters
   * @throws ProviderUnavailable, ProviderRefusal
   */
  async redeem(
    provider: SignInProvider,
    request: ProviderRequest,
    responseUrl: URL,
  ): Promise<ProviderClaims> {
    const configuration = this.#configure(provider, await this.#readMetadata(provider));
    const now = this.#dependencies.clock.now();
    return this.#inSlot(provider, async () => {
      const tokens = await authorizationCodeGrant(configuration, responseUrl, {
        expectedState: request.state,
        expectedNonce: request.nonce,
        pkceCodeVerifier: request.codeVerifier,
        idTokenExpected: true,
      }).catch(toProviderError);
      const idToken = tokens.claims();
      if (idToken === undefined) throw new ProviderRefusal('the response has no ID token');
      if (idToken.iat * 1_000 > now + toleratedSkewSeconds * 1_000)
        throw new ProviderRefusal('the ID token was issued in the future');
      // Many providers put addresses and groups only there.
      const isIncomplete = idToken.email === undefined || idToken.groups === undefined;
      const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
      const more =
        isIncomplete && hasUserInfo
          ? await fetchUserInfo(configuration, tokens.access_token, idToken.sub).catch(
              toProviderError,
            )
          : {};
      const claims = readProviderClaims({ ...more, ...idToken });
      const { authenticatedAt } = claims;
      const earliest = request.again
        ? request.startedAt - toleratedSkewSeconds * 1_000
        : now - (maxSignInSeconds + toleratedSkewSeconds) * 1_000;
      if (authenticatedAt !== undefined && authenticatedAt.getTime() < earliest)
        throw new ProviderRefusal('the person signed in at the provider too long ago');
      if (request.again && authenticatedAt === undefined)
        throw new ProviderRefusal('the provider doesn’t say when the person signed in');
      return claims;
    });
  }

  #readMetadata(provider: SignInProvider): Promise<ServerMetadata> {
    const key = JSON.stringify([provider.accountId ?? null, provider.issuer]);
    const known = this.#metadata.get(key);
    if (known !== undefined) return known;
    const fetched = this.#inSlot(provider, () => this.#discover(provider));
    this.#metadata.set(key, fetched);
    // A failure isn't kept: the next sign-in tries again.
    fetched.catch(() => {
      if (this.#metadata.get(key) === fetched) this.#metadata.delete(key);
    });
    return fetched;
  }

  async #discover(provider: SignInProvider): Promise<ServerMetadata> {
    const { issuer, clientId } = provider;
    try {
      const found = await discovery(new URL(issuer), clientId, undefined, undefined, {
        timeout: requestSeconds,
        execute: [allowInsecureRequests],
        [customFetch]: this.#fetchOf(provider),
      });
      const metadata = found.serverMetadata();
      // Some providers publish one document for many issuers; an ID token of any of them would count.
      if (metadata.issuer !== issuer)
        throw new Error(`the provider’s issuer is ${metadata.issuer}, not ${issuer}`);
      for (const name of usedEndpoints) this.#checkEndpoint(provider, name, metadata[name]);
      return metadata;
    } catch (cause) {
      throw new ProviderUnavailable(`the metadata of ${issuer} can’t be read`, { cause });
    }
  }

  /** Browsers are sent to one of them, so it can't be a script or show another host than its own. */
  #checkEndpoint(provider: SignInProvider, name: string, endpoint: unknown): void {
    if (endpoint === undefined && name === 'userinfo_endpoint') return;
    const url = typeof endpoint === 'string' ? URL.parse(endpoint) : null;
    const isSafe =
      url?.protocol === 'https:' ||
      (url?.protocol === 'http:' && this.#mayUseHttp(provider, url.hostname));
    if (!isSafe || url.username !== '' || url.password !== '')
      throw new Error(`the provider’s ${name} isn’t an https URL without credentials`);
  }

  /** New for each sign-in, which reads the provider's current keys (OpenID Connect Core section 10.1.1). */
  #configure(provider: SignInProvider, metadata: ServerMetadata): Configuration {
    const { clientId, clientSecret } = provider;
    const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const configuration = new Configuration(
      metadata,
      clientId,
      {
        [clockSkew]: Math.round((this.#dependencies.clock.now() - Date.now()) / 1_000),
        [clockTolerance]: toleratedSkewSeconds,
      },
      methods.includes('client_secret_basic')
        ? ClientSecretBasic(clientSecret)
        : ClientSecretPost(clientSecret),
    );
    configuration.timeout = requestSeconds;
    configuration[customFetch] = this.#fetchOf(provider);
    // `fetchFromProvider` decides where plain http is allowed.
    allowInsecureRequests(configuration);
    enableNonRepudiationChecks(configuration);
    return configuration;
  }

  #fetchOf(provider: SignInProvider): CustomFetch {
    const networks = this.#networksOf(provider);
    return (url, options) =>
      fetchFromProvider(url, options, networks, this.#dependencies.hostNames);
  }

  #networksOf({ accountId }: SignInProvider): PublicNetworks | undefined {
    return accountId === undefined ? undefined : this.#networks;
  }

  #mayUseHttp(provider: SignInProvider, host: string): boolean {
    return this.#networksOf(provider)?.isTrusted(host) ?? isLoopback(host);
  }

  async #inSlot<Result>(provider: SignInProvider, work: () => Promise<Result>): Promise<Result> {
    try {
      return await this.#slots.run(provider.accountId ?? '', work);
    } catch (error) {
      if (error instanceof Busy) throw new ProviderUnavailable(error.message, { cause: error });
      throw error;
    }
  }
}

/** Only what the provider says it knows, because some refuse unknown scopes. */
function scopeFor({ scopes_supported: supported }: ServerMetadata): string {
  const optional = ['email', 'profile', 'groups'];
  const known = optional.filter((scope) => supported?.includes(scope) ?? scope !== 'groups');
  return ['openid', ...known].join(' ');
}

/** Errors of the library: what can't be reached or returns a failure, and what it refuses. */
function toProviderError(cause: unknown): never {
  if (cause instanceof AuthorizationResponseError)
    throw new ProviderRefusal(`the provider returned ${cause.error}`, { cause });
  const { code, message } = cause as { readonly code?: string; readonly message: string };
  const isUnreachable =
    code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT' || message === 'something went wrong';
  if (isUnreachable) throw new ProviderUnavailable('the provider can’t be reached', { cause });
  throw new ProviderRefusal(message, { cause });
}
