import type { FastifyInstance } from 'fastify';

/**
 * The time between the request to stop and the end of listening, in which load balancers learn from `/readyz` that the node is
 * leaving. It still answers, and asks every client to use another connection for its next request (RFC 9112 section 9.6), so
 * that none is lost on a connection that closes.
 */
export class Draining {
  #isOn = false;

  constructor(http: FastifyInstance) {
    http.addHook('onRequest', (_request, reply, done) => {
      if (this.#isOn) reply.header('connection', 'close');
      done();
    });
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  begin(): void {
    this.#isOn = true;
  }
}
