import type { FastifyReply } from 'fastify';

/**
 * Sends answers together, once everything that came in this turn of the event loop has been read. A write that wakes a
 * sleeping client costs more than all else of a short answer; where several are written one after the other, the client is
 * awake after the first.
 */
export class EndOfTurn {
  #waiting: FastifyReply[] = [];

  /** Sends a reply that has its headers and no body. */
  send(reply: FastifyReply): void {
    this.#waiting.push(reply);
    if (this.#waiting.length === 1) setImmediate(() => this.#sendAll());
  }

  #sendAll(): void {
    const replies = this.#waiting;
    this.#waiting = [];
    for (const reply of replies) void reply.send();
  }
}
