import type { Credential } from './connection.ts';
import { OAuthError, RateLimitedError } from './errors.ts';
import { memoryStore, type TokenStore, type Tokens } from './token-store.ts';

/** How to get the first token pair; the refresh token gets later ones (contract 5). */
export type Grant =
  | { readonly type: 'password'; readonly username: string; readonly password: string }
  | {
      readonly type: 'authorization_code';
      readonly code: string;
      readonly redirectUri: string;
      /** For PKCE (RFC 7636). */
      readonly codeVerifier?: string;
    }
  | { readonly type: 'refresh_token'; readonly refreshToken: string };

export interface OAuthOptions {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly grant: Grant;
  /** Default: memory of this process. */
  readonly store?: TokenStore;
}

/** How long before its expiry a token is replaced, so that requests don't arrive with an expired one. */
const marginMs = 60_000;

/** A credential that gets and refreshes tokens, once for all requests that wait for one. */
export class OAuthCredential implements Credential {
  readonly renewable = true;
  readonly #url: string;
  readonly #fetch: typeof fetch;
  readonly #options: OAuthOptions;
  readonly #store: TokenStore;
  #renewing: Promise<Tokens> | undefined;
  #tokens: Tokens | undefined;

  constructor(url: string, own: typeof fetch | undefined, options: OAuthOptions) {
    this.#url = `${url.replace(/\/+$/, '')}/token`;
    this.#fetch = own ?? ((input, init) => fetch(input, init));
    this.#options = options;
    this.#store = options.store ?? memoryStore();
  }

  async token(rejected: string | undefined, signal: AbortSignal): Promise<string> {
    const known = this.#tokens ?? (await this.#store.get());
    if (known !== undefined && isUsable(known, rejected)) {
      this.#tokens = known;
      return known.accessToken;
    }
    this.#renewing ??= this.#renew(rejected).finally(() => {
      this.#renewing = undefined;
    });
    return (await abortable(this.#renewing, signal)).accessToken;
  }

  /** Not aborted with one request: others wait for it, and a lost response would lose the refresh token. */
  #renew(rejected: string | undefined): Promise<Tokens> {
    return this.#store.lock(async () => {
      const stored = await this.#store.get();
      const tokens =
        stored !== undefined && isUsable(stored, rejected) ? stored : await this.#obtain(stored);
      this.#tokens = tokens;
      return tokens;
    });
  }

  async #obtain(stored: Tokens | undefined): Promise<Tokens> {
    if (stored !== undefined) {
      try {
        return await this.#request({
          grant_type: 'refresh_token',
          refresh_token: stored.refreshToken,
        });
      } catch (error) {
        // Another process may have used it; only the password grant can start over.
        const isOver = error instanceof OAuthError && error.error === 'invalid_grant';
        if (!isOver || this.#options.grant.type !== 'password') throw error;
      }
    }
    return await this.#request(fieldsOf(this.#options.grant));
  }

  async #request(fields: Record<string, string>): Promise<Tokens> {
    const { clientId, clientSecret } = this.#options;
    const response = await this.#fetch(this.#url, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.timeout(30_000),
      headers: { accept: 'application/json' },
      body: new URLSearchParams({ ...fields, client_id: clientId, client_secret: clientSecret }),
    });
    const body = (await response.json().catch(() => ({}))) as {
      readonly access_token?: string;
      readonly refresh_token?: string;
      readonly expires_in?: number;
      readonly error?: string;
      readonly error_description?: string;
    };
    if (body.access_token === undefined || body.refresh_token === undefined) {
      const requestId = response.headers.get('x-request-id');
      const failure = {
        message: body.error_description ?? body.error ?? `No token: HTTP ${response.status}`,
        status: response.status,
        ...(requestId === null ? {} : { requestId }),
      };
      const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
      if (response.status === 429)
        throw new RateLimitedError(failure, Number.isNaN(seconds) ? undefined : seconds);
      // The connection retries network errors; nothing was issued.
      if (response.status >= 500) throw new TypeError(failure.message);
      throw new OAuthError(failure, body.error ?? 'invalid_response');
    }
    const tokens = {
      accessToken: body.access_token,
      refreshToken: body.refresh_token,
      expiresAt: Date.now() + (body.expires_in ?? 3_600) * 1_000,
    };
    await this.#store.set(tokens);
    return tokens;
  }
}

function isUsable(tokens: Tokens, rejected: string | undefined): boolean {
  return tokens.accessToken !== rejected && tokens.expiresAt - marginMs > Date.now();
}

function fieldsOf(grant: Grant): Record<string, string> {
  switch (grant.type) {
    case 'password':
      return { grant_type: 'password', username: grant.username, password: grant.password };
    case 'authorization_code':
      return {
        grant_type: 'authorization_code',
        code: grant.code,
        redirect_uri: grant.redirectUri,
        ...(grant.codeVerifier === undefined ? {} : { code_verifier: grant.codeVerifier }),
      };
    case 'refresh_token':
      return { grant_type: 'refresh_token', refresh_token: grant.refreshToken };
  }
}

function abortable<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
