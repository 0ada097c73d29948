import type { FairByteLimits } from '../../foundation/fair-bytes.ts';
import { largeBodyBudget } from './large-bodies.ts';
import { mebibyte } from './route-limit.ts';

export interface ByteBudget {
  /** Max bytes of all bodies in memory. */
  readonly total: number;
  /** Max bytes of the bodies of one peer. */
  readonly perPeer: number;
}

/** Anonymous callers have a separate budget, so that they can't crowd out authenticated ones. */
export interface ByteBudgets {
  readonly known: ByteBudget;
  readonly unknown: ByteBudget;
  /** Bodies above their route's limit, by account. */
  readonly large: FairByteLimits;
}

export const defaultByteBudgets: ByteBudgets = {
  known: { total: 128 * mebibyte, perPeer: 64 * mebibyte },
  unknown: { total: 32 * mebibyte, perPeer: 8 * mebibyte },
  large: largeBodyBudget,
};

/** The default budgets where memory is scarce. @param share from `memoryShare` */
export function scaleByteBudgets(share: number): ByteBudgets {
  const { known, unknown, large } = defaultByteBudgets;
  return {
    known: { total: known.total * share, perPeer: known.perPeer * share },
    // The share of one peer must hold the largest body that a route accepts.
    unknown: { ...unknown, total: Math.max(unknown.perPeer, unknown.total * share) },
    large: { total: large.total * share, perGroup: large.perGroup * share },
  };
}

/** Counts the bytes of bodies from arrival to response, in total and by peer. */
export class BytesInFlight {
  readonly #budget: ByteBudget;
  readonly #peers = new Map<string, number>();
  #total = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  get total(): number {
    return this.#total;
  }

  /** Returns the budget that these bytes would exceed; undefined if neither. */
  findExceededBudget(peer: string, bytes: number): 'peer' | 'total' | undefined {
    if (bytes === 0) return undefined;
    if ((this.#peers.get(peer) ?? 0) + bytes > this.#budget.perPeer) return 'peer';
    return this.#total + bytes > this.#budget.total ? 'total' : undefined;
  }

  add(peer: string, bytes: number): void {
    this.#total += bytes;
    this.#peers.set(peer, (this.#peers.get(peer) ?? 0) + bytes);
  }

  remove(peer: string, bytes: number): void {
    this.#total -= bytes;
    const left = (this.#peers.get(peer) ?? 0) - bytes;
    if (left > 0) this.#peers.set(peer, left);
    else this.#peers.delete(peer);
  }
}

/** The bytes of one request's body. */
export class BodyShare {
  readonly #flight: BytesInFlight;
  readonly #peer: string;
  #bytes = 0;
  #ended = false;

  constructor(flight: BytesInFlight, peer: string) {
    this.#flight = flight;
    this.#peer = peer;
  }

  findExceededBudget(bytes: number): 'peer' | 'total' | undefined {
    return this.#flight.findExceededBudget(this.#peer, bytes);
  }

  /** Claims bytes that arrived. If a budget would be exceeded, claims nothing and returns which one. */
  claim(bytes: number): 'peer' | 'total' | undefined {
    const full = this.findExceededBudget(bytes);
    if (full !== undefined || this.#ended) return full;
    this.#bytes += bytes;
    this.#flight.add(this.#peer, bytes);
    return undefined;
  }

  /** Releases the claimed bytes once the response is sent or the client is gone. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#bytes > 0) this.#flight.remove(this.#peer, this.#bytes);
  }
}
