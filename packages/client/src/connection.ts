import {
  AccountSuspendedError,
  type Failure,
  IdempotencyMismatchError,
  InternalError,
  InvalidIdError,
  PersonalizationError,
  type Problem,
  RateLimitedError,
  RequestError,
  SenderNotAllowedError,
  SignalpostError,
  SuppressedError,
  UnauthorizedError,
  UnavailableError,
  ValidationError,
} from './errors.ts';

export interface CallOptions {
  /** Aborts the call. */
  readonly signal?: AbortSignal;
  /** Milliseconds that one attempt may take. Default: 30,000. */
  readonly timeout?: number;
  /** Milliseconds that the call may take with all its retries. Default: 60,000. */
  readonly deadline?: number;
}

/** Supplies the credential of each request. */
export interface Credential {
  /** The value after `Bearer`. @param rejected a token that the service has just refused */
  token(rejected: string | undefined, signal: AbortSignal): Promise<string>;
  /** Whether a refused token can be replaced. */
  readonly renewable: boolean;
}

export interface ConnectionOptions extends CallOptions {
  /** The address of the service, such as `https://mail.example.com`. */
  readonly url: string;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
}

export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the service's address, encoded. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes retrying a POST safe. */
  readonly idempotencyKey?: string;
  /** Whether it can be retried even if an earlier attempt may have succeeded. Default: all but a POST without a key. */
  readonly repeatable?: boolean;
}

const defaultTimeoutMs = 30_000;
const defaultDeadlineMs = 60_000;
const minBackoffMs = 250;
const maxBackoffMs = 8_000;

/** A response with its body. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON; undefined for other content. */
  readonly body: unknown;
}

/** Sends requests, retries those that are safe to retry, and turns error responses into errors. */
export class Connection {
  readonly url: string;
  readonly #fetch: typeof fetch;
  readonly #defaults: CallOptions;
  readonly #credential: Credential;

  constructor({ url, fetch: own, ...defaults }: ConnectionOptions, credential: Credential) {
    this.url = url.replace(/\/+$/, '');
    // Browsers and Workers refuse a `fetch` that is called as a method.
    this.#fetch = own ?? ((input, init) => fetch(input, init));
    this.#defaults = defaults;
    this.#credential = credential;
  }

  /** @returns the body of the 2xx response; @throws SignalpostFailure, or the reason of `signal` */
  async call(request: Request, options: CallOptions = {}): Promise<unknown> {
    return (await this.send(request, options)).body;
  }

  /** @returns the 2xx response; @throws SignalpostFailure, or the reason of `signal` */
  async send(request: Request, options: CallOptions = {}): Promise<Answer> {
    const { timeout = defaultTimeoutMs, deadline = defaultDeadlineMs } = {
      ...this.#defaults,
      ...options,
    };
    const signal = options.signal ?? this.#defaults.signal;
    const ends = Date.now() + deadline;
    const repeatable =
      request.repeatable ?? (request.method !== 'POST' || request.idempotencyKey !== undefined);
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    let rejected: string | undefined;
    let unanswered: SignalpostError | undefined;
    for (let attempt = 0; ; attempt += 1) {
      signal?.throwIfAborted();
      let failure: SignalpostError;
      let waitMs = backoff(attempt);
      let isSent = false;
      const limit = AbortSignal.timeout(Math.max(1, Math.min(timeout, ends - Date.now())));
      const both = signal === undefined ? limit : AbortSignal.any([signal, limit]);
      try {
        const token = await this.#credential.token(rejected, both);
        isSent = true;
        const response = await this.#attempt(request, body, token, both);
        if (response.status < 300) return response;
        if (response.status === 401 && this.#isReplaceable(response) && rejected === undefined) {
          rejected = token;
          continue;
        }
        failure = errorOf(response, request.idempotencyKey);
        if (!isTemporary(response, attempt, repeatable))
          throw (isEffectOfItself(request, response) && unanswered) || failure;
        if (response.status >= 500 && !isUntouched(response)) unanswered ??= failure;
        waitMs = Math.max(waitMs, (retryAfter(response) ?? 0) * 1_000);
      } catch (error) {
        signal?.throwIfAborted();
        // Cloudflare Workers reject a broken connection with a plain Error.
        const isLost = isSent && !(error instanceof SignalpostError);
        if (!isLost && !isNetworkError(error)) throw error;
        failure = new UnavailableError(
          { message: `No response from ${this.url}` },
          request.idempotencyKey,
          { cause: error },
        );
        if (!repeatable) throw failure;
        if (isSent) unanswered ??= failure;
      }
      if (Date.now() + waitMs >= ends) throw unanswered ?? failure;
      await sleep(waitMs, signal);
    }
  }

  async #attempt(
    { method, path, headers, idempotencyKey }: Request,
    body: string | undefined,
    token: string,
    signal: AbortSignal,
  ): Promise<Answer> {
    const response = await this.#fetch(`${this.url}${path}`, {
      method,
      signal,
      // A redirect would send the credential elsewhere.
      redirect: 'manual',
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        ...headers,
        authorization: `Bearer ${token}`,
      },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parse(text) };
  }

  /** RFC 6750 section 3.1: only `invalid_token` says that another token would help. */
  #isReplaceable({ headers }: Answer): boolean {
    return (
      this.#credential.renewable &&
      (headers.get('www-authenticate') ?? '').includes('error="invalid_token"')
    );
  }
}

/**
 * The error for a response other than 2xx.
 * @param idempotencyKey the key of the request, for errors after which it can be retried
 */
export function errorOf(response: Answer, idempotencyKey?: string): SignalpostError {
  const body = (response.body ?? {}) as {
    readonly errorName?: string;
    readonly message?: string;
    readonly title?: string;
    readonly detail?: string;
    readonly type?: string;
    readonly details?: readonly Problem[];
    readonly errors?: readonly Problem[];
    readonly requestId?: string;
    readonly suppressedRecipients?: readonly string[];
    readonly statusUrl?: string;
    readonly status?: number;
  };
  const location = response.headers.get('location');
  const requestId = body.requestId ?? response.headers.get('x-request-id') ?? undefined;
  const details = body.details ?? body.errors ?? [];
  const title = body.message ?? body.title ?? `HTTP ${response.status}`;
  const detail = body.detail ?? (location === null ? '' : `set \`url\` to where ${location} is`);
  // The detail of a problem may describe its errors itself.
  const reasons = details
    .map(({ field, reason }) => `${field} ${reason}`)
    .filter((reason) => !detail.includes(reason));
  const explained = [detail, ...reasons].filter((part) => part !== '').join('; ');
  const failure: Failure = {
    message: explained === '' ? title : `${title}: ${explained}`,
    status: response.status,
    ...(requestId === undefined ? {} : { requestId }),
    details,
  };
  switch (body.errorName) {
    case 'VALIDATION_FAILED':
      return new ValidationError(failure);
    case 'SENDER_NOT_ALLOWED':
      return new SenderNotAllowedError(failure);
    case 'INVALID_ID':
      return new InvalidIdError(failure);
    case 'PERSONALIZATION_FAILURE':
      return new PersonalizationError(failure);
    case 'RECIPIENT_SUPPRESSED':
      return new SuppressedError(failure, body.suppressedRecipients ?? [], body.statusUrl);
    case 'ACCOUNT_SUSPENDED':
      return new AccountSuspendedError(failure);
    case 'IDEMPOTENCY_MISMATCH':
      return new IdempotencyMismatchError(failure);
  }
  if (response.status === 401) return new UnauthorizedError(failure);
  if (response.status === 429) return new RateLimitedError(failure, retryAfter(response));
  if (response.status === 500) return new InternalError(failure);
  if (response.status > 500 || body.errorName === 'IDEMPOTENCY_IN_PROGRESS')
    return new UnavailableError(failure, idempotencyKey);
  return new RequestError(failure, body.type);
}

function isTemporary(response: Answer, attempt: number, repeatable: boolean): boolean {
  const { status } = response;
  if (isUntouched(response)) return true;
  if (!repeatable) return false;
  if (status === 409) return nameOf(response) === 'IDEMPOTENCY_IN_PROGRESS';
  if (status === 500) return attempt === 0;
  // From a proxy in front of the service: no node is healthy, or its node died.
  return status === 502 || status === 503 || status === 504;
}

/** A 429 or the service's own 503 means that nothing happened. */
function isUntouched(response: Answer): boolean {
  return (
    response.status === 429 || (response.status === 503 && nameOf(response) === 'IO_EXCEPTION')
  );
}

/**
 * Whether an earlier attempt without a response can be the reason: it removed what a DELETE names (404), or changed what
 * `If-Match` and `If-None-Match` compare (412). The outcome is then unknown.
 */
function isEffectOfItself({ method }: Request, { status }: Answer): boolean {
  return status === 412 || (method === 'DELETE' && status === 404);
}

function nameOf({ body }: Answer): unknown {
  return (body as { readonly errorName?: unknown } | undefined)?.errorName;
}

/** Seconds of `Retry-After` (RFC 9110 section 10.2.3). */
function retryAfter({ headers }: Answer): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  const seconds = /^\d+$/.test(value)
    ? Number(value)
    : Math.ceil((Date.parse(value) - Date.now()) / 1_000);
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/** Exponential, with full jitter, so that clients don't all return at once. */
function backoff(attempt: number): number {
  return minBackoffMs + Math.random() * Math.min(maxBackoffMs, minBackoffMs * 2 ** attempt);
}

/** `fetch` rejects with a TypeError for a broken connection, and with a DOMException for a timeout. */
function isNetworkError(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError'))
  );
}

/** @throws the reason of `signal` */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const ended = new AbortController();
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    const wake = () => {
      clearTimeout(timer);
      resolve();
    };
    signal?.addEventListener('abort', wake, { signal: ended.signal });
  });
  ended.abort();
  signal?.throwIfAborted();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
