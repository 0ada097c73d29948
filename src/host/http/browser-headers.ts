import type { IncomingMessage } from 'node:http';

/**
 * The header field, name and value, that makes browsers use only https for a year (RFC 6797 section 6.1). Subdomains
 * aren't included, because they may belong to other services.
 */
export const strictTransport = ['strict-transport-security', 'max-age=31536000'] as const;

/** `strictTransport`, or nothing if the service is reached by http. */
export type TransportHeader = typeof strictTransport | readonly [];

/** The operations that pages of other origins can call; pages, sign-in and client credentials are never among them. */
const apiPath = /^\/{1,2}(?:ete\/|api\/1\/|manage\/v1\/)/;

const allowedMethods = 'GET, HEAD, POST, PUT, DELETE';
const allowedHeaders =
  'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, X-Account-Id';
const exposedHeaders =
  'Allow, ETag, Idempotency-Replayed, Retry-After, WWW-Authenticate, X-Request-Id';
/** How long browsers cache the response to a preflight, in seconds. */
const preflightSeconds = '600';

/** Header fields of a response: name, value, name, value… */
export type HeaderFields = readonly string[];

const none: HeaderFields = [];
const varying: HeaderFields = ['vary', 'Origin'];

/**
 * CORS (Fetch standard, section 3.2) for the origins that the operator lists, without credentials: a page there can use
 * an API key that it has, but never the browser's session.
 */
export class CrossOrigin {
  readonly #origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
  }

  /** What the response to a request needs. */
  headersFor(request: Pick<IncomingMessage, 'url' | 'headers'>): HeaderFields {
    if (!apiPath.test(request.url ?? '')) return none;
    const { origin } = request.headers;
    if (origin === undefined || !this.#origins.has(origin)) return varying;
    return [
      'access-control-allow-origin',
      origin,
      'access-control-expose-headers',
      exposedHeaders,
      ...varying,
    ];
  }

  /** What the response to a preflight needs; undefined for every other request. */
  preflightFor(
    request: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
  ): HeaderFields | undefined {
    const { method, url, headers } = request;
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined)
      return undefined;
    if (!apiPath.test(url ?? '') || !this.#origins.has(headers.origin ?? '')) return undefined;
    return [
      'access-control-allow-methods',
      allowedMethods,
      'access-control-allow-headers',
      allowedHeaders,
      'access-control-max-age',
      preflightSeconds,
    ];
  }
}

/** Calls `set` with each field. */
export function eachField(fields: HeaderFields, set: (name: string, value: string) => void): void {
  for (let index = 0; index + 1 < fields.length; index += 2)
    set(fields[index] ?? '', fields[index + 1] ?? '');
}
