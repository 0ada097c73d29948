import { setTimeout } from 'node:timers/promises';

/** Something that the caller of the command can fix; the message is one sentence without its period. */
export class TypesFailure extends Error {
  override name = 'TypesFailure';
}

const timeoutMs = 60_000;
const maxAttempts = 6;
const maxWaitSeconds = 30;

interface ManagementRequest {
  readonly body?: unknown;
  /** A CSV file, in place of a JSON body. */
  readonly csv?: string;
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: '*' | undefined;
}

export interface ManagementAnswer {
  readonly status: number;
  readonly etag: string | undefined;
  /** Parsed JSON; undefined if the response has none. */
  readonly body: unknown;
  readonly bytes: Uint8Array;
}

/** A response of the management API that isn't a success (RFC 9457). */
export class ManagementProblem extends TypesFailure {
  override name = 'ManagementProblem';
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The API key of a command: SIGNALPOST_KEY is the service's master key where the service runs. */
export function apiKeyOf(
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  return environment.SIGNALPOST_API_KEY ?? environment.SIGNALPOST_KEY;
}

/** Calls the management API of a running service for the account of a key. */
export class ManagementConnection {
  /** Scheme, host and port of the service, and its path if it has one. */
  readonly url: string;
  readonly account: string;
  readonly #key: string;

  /** @throws TypesFailure if the address or the key is malformed */
  constructor(url: string, key: string | undefined) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new TypesFailure(
        '--url must be the address of the service, such as https://mail.example.com',
      );
    if (key === undefined || key === '')
      throw new TypesFailure('Set SIGNALPOST_API_KEY to an API key of the account');
    const account = /^sp_([A-Za-z0-9_-]{1,64})_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/.exec(key)?.[1];
    if (account === undefined)
      throw new TypesFailure('SIGNALPOST_API_KEY must be an API key, which begins with sp_');
    const { origin, pathname } = new URL(url);
    this.url = `${origin}${pathname.replace(/\/+$/, '')}`;
    this.account = account;
    this.#key = key;
  }

  /**
   * Calls an operation, again while the service is busy.
   * @param path below the account
   * @throws ManagementProblem if the service refuses, TypesFailure if it can't be reached
   */
  async call(
    method: 'GET' | 'PUT' | 'POST' | 'DELETE',
    path: string,
    request: ManagementRequest = {},
  ): Promise<ManagementAnswer> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.#fetch(method, path, request);
      const waits = response.status === 429 || response.status === 503;
      if (!waits || attempt === maxAttempts) return await readAnswer(response, method, path);
      await response.body?.cancel();
      const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
      const wait = Number.isFinite(seconds) && seconds >= 0 ? seconds : attempt;
      await setTimeout(1_000 * Math.min(wait, maxWaitSeconds));
    }
  }

  /** Reads a resource. @returns undefined if it doesn't exist */
  async find(path: string): Promise<ManagementAnswer | undefined> {
    try {
      return await this.call('GET', path);
    } catch (error) {
      if (error instanceof ManagementProblem && error.status === 404) return undefined;
      throw error;
    }
  }

  /** All items of a list, page by page. */
  async *list(path: string): AsyncGenerator<unknown> {
    let cursor: string | null = null;
    do {
      const query = new URLSearchParams({ limit: '500', ...(cursor === null ? {} : { cursor }) });
      const { body } = await this.call('GET', `${path}?${query}`);
      const page = body as {
        readonly items: readonly unknown[];
        readonly nextCursor: string | null;
      };
      yield* page.items;
      cursor = page.nextCursor;
    } while (cursor !== null);
  }

  async #fetch(method: string, path: string, request: ManagementRequest): Promise<Response> {
    const { body, csv, ifMatch, ifNoneMatch } = request;
    const content = csv ?? (body === undefined ? undefined : JSON.stringify(body));
    const type = csv === undefined ? 'application/json' : 'text/csv';
    try {
      return await fetch(`${this.url}/manage/v1/accounts/${this.account}${path}`, {
        method,
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
        headers: {
          authorization: `Bearer ${this.#key}`,
          ...(content === undefined ? {} : { 'content-type': type }),
          ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
          ...(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }),
        },
        ...(content === undefined ? {} : { body: content }),
      });
    } catch (cause) {
      throw unreachable(this.url, cause);
    }
  }
}

async function readAnswer(
  response: Response,
  method: string,
  path: string,
): Promise<ManagementAnswer> {
  const { status, headers } = response;
  let bytes: Uint8Array;
  try {
    bytes = new Uint8Array(await response.arrayBuffer());
  } catch (cause) {
    throw unreachable(response.url, cause);
  }
  const isJson = /[/+]json\b/.test(headers.get('content-type') ?? '');
  const body = isJson ? parseJson(new TextDecoder().decode(bytes)) : undefined;
  if (response.ok) return { status, etag: headers.get('etag') ?? undefined, body, bytes };
  throw problemOf(status, body, `${method} ${path.split('?')[0]}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function problemOf(status: number, body: unknown, call: string): ManagementProblem {
  const { type, title, detail, requestId } = (body ?? {}) as Readonly<Record<string, unknown>>;
  const code = String(type ?? '').replace('/problems/', '');
  const hint =
    status === 401
      ? 'The service doesn’t know this API key'
      : status === 403
        ? 'The API key lacks a scope'
        : undefined;
  const told = [hint, detail ?? title].filter((part) => typeof part === 'string').join(': ');
  const id = typeof requestId === 'string' ? `, request ${requestId}` : '';
  return new ManagementProblem(
    status,
    code,
    `${told || 'The service refused'} (${call}: ${status}${id})`,
  );
}

function unreachable(url: string, cause: unknown): TypesFailure {
  const { message, cause: inner } = cause as Error;
  const reason = inner instanceof Error ? inner.message : message;
  return new TypesFailure(`Can’t reach ${url}: ${reason}`, { cause });
}
