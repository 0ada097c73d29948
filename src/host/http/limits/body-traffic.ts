import type { IncomingMessage } from 'node:http';
import {
  type Evictable,
  type Holding,
  Limiter,
  type Sharer,
} from '../../../base/fairness/limiter.ts';
import { policies } from '../../../base/fairness/policies.ts';
import { LargeBodies } from './large-bodies.ts';
import type { Peers } from './peers.ts';
import { formatBytes } from './route-limits.ts';

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
function bodyOverCapacity(full: 'peer' | 'total'): BodyRefusal {
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

/** The request bodies in memory: those of authenticated callers are shared by accounts, those of strangers by networks. */
export class BodyTraffic {
  readonly #peers: Peers;
  readonly #known: Limiter;
  readonly #strangers: Limiter;
  /** Bodies above their route's limit. */
  readonly large: LargeBodies;

  /** @param share of the memory, from `memoryShare` */
  constructor(peers: Peers, share = 1) {
    this.#peers = peers;
    this.#known = new Limiter(policies.bodies, share);
    this.#strangers = new Limiter(policies.strangersBodies, share);
    this.large = new LargeBodies(share);
  }

  /** Bytes currently in memory. */
  get bytes(): number {
    return this.#known.held + this.#strangers.held + this.large.bytes;
  }

  /**
   * Opens a share for one request's body; the caller must end it.
   * @param isKnown whether the caller is authenticated
   * @param account theirs, if they have one
   */
  open(request: IncomingMessage, isKnown: boolean, account: string | undefined): BodyShare {
    return new BodyShare(
      isKnown ? this.#known : this.#strangers,
      (isKnown ? account : undefined) ?? this.#peers.networksOf(request),
    );
  }
}

/** The bytes of one request's body. While it arrives, it may have to make room for others. */
export class BodyShare implements Evictable {
  readonly #limiter: Limiter;
  readonly #sharer: Sharer;
  #holding: Holding | undefined;
  #bytes = 0;
  #ended = false;
  /** Set by the reader of the body. */
  onEvict: (refusal: BodyRefusal) => void = () => undefined;

  constructor(limiter: Limiter, sharer: Sharer) {
    this.#limiter = limiter;
    this.#sharer = sharer;
  }

  /** Claims bytes that arrived. @returns the refusal if there is no capacity for them */
  claim(bytes: number): BodyRefusal | undefined {
    if (this.#ended) return undefined;
    if (this.#holding === undefined)
      this.#holding = this.#limiter.tryAcquire(this.#sharer, { amount: bytes, evictable: this });
    else if (!this.#holding.grow(bytes)) return this.#refusal(bytes);
    if (this.#holding === undefined) return this.#refusal(bytes);
    this.#bytes += bytes;
    return undefined;
  }

  #refusal(bytes: number): BodyRefusal {
    const { held, policy } = this.#limiter;
    return bodyOverCapacity(held + bytes > policy.total ? 'total' : 'peer');
  }

  progress(): number {
    return this.#bytes;
  }

  evict(): void {
    this.onEvict(bodyOverCapacity('total'));
  }

  /** The body has arrived. */
  settle(): void {
    this.#holding?.settle();
  }

  /** Releases the claimed bytes once the response is sent or the client is gone. */
  end(): void {
    this.#ended = true;
    this.#holding?.release();
  }
}
