import type { FastifyInstance } from 'fastify';

/**
 * Whether the node is leaving: from the request to stop, so that load balancers learn from `/readyz` before it stops listening,
 * until the server has closed. It still responds, and asks every client to use another connection for its next request
 * (RFC 9112 section 9.6), so that none is lost on a connection that closes.
 */
export class Draining {
  #isOn = false;

  constructor(http: FastifyInstance) {
    http.addHook('onRequest', (_request, reply, done) => {
      if (this.#isOn) reply.header('connection', 'close');
      done();
    });
    http.addHook('preClose', async () => this.begin());
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  begin(): void {
    this.#isOn = true;
  }
}
