import type { IncomingMessage } from 'node:http';
import { BodyShare, type ByteBudgets, BytesInFlight } from './bytes-in-flight.ts';
import { LargeBodies } from './large-bodies.ts';
import type { Peers } from './peers.ts';

/** The request bodies in memory, with separate budgets for authenticated and anonymous callers. */
export class BodyTraffic {
  readonly #peers: Peers;
  readonly #known: BytesInFlight;
  readonly #unknown: BytesInFlight;
  /** Bodies above their route's limit. */
  readonly large: LargeBodies;

  constructor(peers: Peers, budgets: ByteBudgets) {
    this.#peers = peers;
    this.#known = new BytesInFlight(budgets.known);
    this.#unknown = new BytesInFlight(budgets.unknown);
    this.large = new LargeBodies(budgets.large);
  }

  /** Bytes currently in memory. */
  get bytes(): number {
    return this.#known.total + this.#unknown.total + this.large.bytes;
  }

  /** Opens a share for one request's body; the caller must end it. */
  open(request: IncomingMessage, known: boolean): BodyShare {
    return new BodyShare(known ? this.#known : this.#unknown, this.#peers.ofRequest(request));
  }
}
