import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../foundation/log.ts';
import { Exchange } from './exchange.ts';

/** Answers an exchange. What it throws is logged, and its client sees the connection end. */
export type DirectHandler = (exchange: Exchange) => Promise<void>;

interface DirectRoute {
  readonly prefix: string;
  readonly name: string;
  readonly handler: DirectHandler;
}

/**
 * Routes that are answered on Node's own request and answer. The framework's way through hooks, body parser and reply costs
 * as much of the processor as all that the send operation does itself, so that one operation goes past it; everything else
 * is the framework's.
 */
export class DirectRoutes {
  readonly #log: Log;
  readonly #routes: DirectRoute[] = [];
  #closing = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * Gives a handler each POST whose path begins with a prefix.
   * @param name how logs call the route
   */
  post(prefix: string, name: string, handler: DirectHandler): void {
    this.#routes.push({ prefix, name, handler });
  }

  /** Answers the request where a route is meant by it. @returns false where it is not, and nothing was done */
  take(request: IncomingMessage, response: ServerResponse): boolean {
    if (request.method !== 'POST') return false;
    const url = request.url ?? '';
    const route = this.#routes.find(({ prefix }) => url.startsWith(prefix));
    if (route === undefined) return false;
    const exchange = new Exchange(request, response, {
      log: this.#log,
      route: route.name,
      closing: () => this.#closing,
    });
    route.handler(exchange).catch((error: unknown) => {
      exchange.log.error({ err: error }, 'request failed');
      exchange.abandon();
    });
    return true;
  }

  /** From now on connections end with the answer that is under way on them. */
  close(): void {
    this.#closing = true;
  }
}
