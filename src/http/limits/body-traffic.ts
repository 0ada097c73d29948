import type { IncomingMessage } from 'node:http';
import { BodyShare, type ByteBudgets, BytesInFlight } from './bytes-in-flight.ts';
import type { Peers } from './peers.ts';

/** The bodies that are in memory: those of known callers, and those of strangers. */
export class BodyTraffic {
  readonly #peers: Peers;
  readonly #known: BytesInFlight;
  readonly #strangers: BytesInFlight;

  constructor(peers: Peers, budgets: ByteBudgets) {
    this.#peers = peers;
    this.#known = new BytesInFlight(budgets.known);
    this.#strangers = new BytesInFlight(budgets.strangers);
  }

  /** Bytes that are in memory now. */
  get bytes(): number {
    return this.#known.total + this.#strangers.total;
  }

  /** A share for one request's body; its opener ends it. */
  open(request: IncomingMessage, known: boolean): BodyShare {
    return new BodyShare(known ? this.#known : this.#strangers, this.#peers.ofRequest(request));
  }
}
