import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Log } from '../foundation/log.ts';
import { Exchange, type ExchangeScene } from './exchange.ts';
import type { TransportHeader } from './strict-transport.ts';

/** Answers an exchange. What it throws is logged, and its client sees the connection end. */
export type DirectHandler = (exchange: Exchange) => Promise<void>;

interface DirectRoute {
  readonly prefix: string;
  readonly scene: ExchangeScene;
  readonly handler: DirectHandler;
}

/**
 * Routes that are answered on Node's own request and answer: the framework's hooks, body parser and reply would cost the send
 * operation a fifth of its processor time. The server gives them their requests before the framework looks at them. The
 * framework has them too, for servers that it starts by itself: a second one where it listens on both addresses of
 * `localhost`.
 */
export class DirectRoutes {
  readonly #http: FastifyInstance;
  readonly #log: Log;
  readonly #transport: TransportHeader;
  readonly #routes: DirectRoute[] = [];
  #closing = false;

  /** @param transport a header field of every answer */
  constructor(http: FastifyInstance, log: Log, transport: TransportHeader) {
    this.#http = http;
    this.#log = log;
    this.#transport = transport;
    const { server } = http;
    const [framework] = server.listeners('request') as RequestListener[];
    server.removeAllListeners('request');
    server.on('request', (request, response) => {
      const route = this.#find(request);
      if (route === undefined) framework?.(request, response);
      else this.#answer(route, request, response);
    });
    // From then on connections end with the answer that is under way on them.
    http.addHook('preClose', async () => {
      this.#closing = true;
    });
  }

  /**
   * Gives a handler each POST whose path begins with a prefix.
   * @param prefix ends with a slash
   * @param name how logs call the route
   */
  post(prefix: string, name: string, handler: DirectHandler): void {
    const scene = {
      log: this.#log,
      route: name,
      transport: this.#transport,
      closing: () => this.#closing,
    };
    const route = { prefix, scene, handler };
    this.#routes.push(route);
    this.#http.route({
      method: 'POST',
      url: `${prefix}*`,
      onRequest: (request, reply) => {
        reply.hijack();
        this.#answer(route, request.raw, reply.raw);
      },
      handler: () => undefined,
    });
  }

  #find({ method, url = '' }: IncomingMessage): DirectRoute | undefined {
    return method === 'POST'
      ? this.#routes.find(({ prefix }) => url.startsWith(prefix))
      : undefined;
  }

  #answer(
    { scene, handler }: DirectRoute,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    const exchange = new Exchange(request, response, scene);
    handler(exchange).catch((error: unknown) => {
      exchange.log.error({ err: error }, 'request failed');
      exchange.abandon();
    });
  }
}
