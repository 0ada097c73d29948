import type { ServerHttp2Stream } from 'node:http2';
import type { FastifyInstance } from 'fastify';

/**
 * Whether the node is leaving: from the request to stop, so that load balancers learn from `/readyz` before it stops listening,
 * until the server has closed. It still responds, and asks every client to use another connection for its next request
 * (RFC 9112 section 9.6; RFC 9113 section 6.8), so that none is lost on a connection that closes.
 */
export class Draining {
  #isOn = false;

  constructor(http: FastifyInstance) {
    http.server.on('stream', ({ session }: ServerHttp2Stream) => {
      if (this.#isOn) session?.close();
    });
    http.addHook('onRequest', (request, reply, done) => {
      if (this.#isOn && request.raw.httpVersionMajor === 1) reply.header('connection', 'close');
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
