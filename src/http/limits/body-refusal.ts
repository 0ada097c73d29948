import { formatBytes } from './route-limit.ts';

/** A body was rejected before it was read completely. Modules with their own error formats recognize it by class. */
export class BodyRefusal extends Error {
  override name = 'BodyRefusal';
  readonly statusCode: 408 | 413 | 429 | 503;
  /** Seconds after which the same request may succeed. */
  readonly retryAfter: number | undefined;

  constructor(statusCode: BodyRefusal['statusCode'], message: string, retryAfter?: number) {
    super(message);
    this.statusCode = statusCode;
    this.retryAfter = retryAfter;
  }
}

/** RFC 9110 section 15.5.14. */
export function bodyTooLarge(limit: number): BodyRefusal {
  const message =
    limit === 0
      ? 'This route takes no body; send the request without one'
      : `The body is larger than ${formatBytes(limit)}`;
  return new BodyRefusal(413, message);
}

/** RFC 9110 section 15.5.9. */
export function bodyTooSlow(seconds: number): BodyRefusal {
  return new BodyRefusal(408, `The body did not arrive within ${seconds} seconds`);
}

/** There is no capacity for the body right now. */
export function bodyOverCapacity(full: 'peer' | 'total'): BodyRefusal {
  return full === 'peer'
    ? new BodyRefusal(
        429,
        'Too many request bodies from your IP address are in progress; retry shortly',
        1,
      )
    : new BodyRefusal(503, 'Too many request bodies are in progress; retry shortly', 1);
}

/** There is no capacity for a response. */
export function responseOverCapacity(): BodyRefusal {
  return new BodyRefusal(503, 'Too many responses wait for their clients; retry shortly', 1);
}
