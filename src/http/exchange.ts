import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import { newId } from '../foundation/ids.ts';
import type { Log } from '../foundation/log.ts';
import { letRestGoBy } from './read-body.ts';
import { RequestLog } from './request-log.ts';
import type { TransportHeader } from './strict-transport.ts';

/** What the exchanges of a route share. */
export interface ExchangeScene {
  readonly log: Log;
  /** What lines of the log call the route. */
  readonly route: string;
  /** A header field of every answer. */
  readonly transport: TransportHeader;
  /** True once the server ends, and its connections with their answers. */
  readonly closing: () => boolean;
}

/** A request that is answered without the framework, and its answer. */
export class Exchange {
  /** Of the request: in its answer, and in what it logs. */
  readonly id = newId();
  readonly request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #scene: ExchangeScene;
  readonly #startedAt = performance.now();

  constructor(request: IncomingMessage, response: ServerResponse, scene: ExchangeScene) {
    this.request = request;
    this.#response = response;
    this.#scene = scene;
  }

  /** Milliseconds since the head of the request was read. */
  get elapsed(): number {
    return performance.now() - this.#startedAt;
  }

  /** Writes lines that carry the request's id. */
  get log(): FastifyBaseLogger {
    return new RequestLog(this.#scene.log, { requestId: this.id });
  }

  /**
   * Answers once, in one write; nobody where the client is gone.
   * @param json the body
   * @param headers further ones: name, value, name, value…
   */
  answer(status: number, json: string, headers: readonly string[] = []): void {
    const response = this.#response;
    const { log, route, transport, closing } = this.#scene;
    const head = ['x-request-id', this.id, 'content-type', 'application/json; charset=utf-8'];
    head.push('content-length', String(Buffer.byteLength(json)), ...transport, ...headers);
    if (closing() || !letRestGoBy(this.request)) head.push('connection', 'close');
    response.writeHead(status, head);
    response.end(json);
    if (log.isLevelEnabled('debug'))
      this.log.debug({ method: this.request.method, route, status }, 'answered');
  }

  /** Ends the connection without an answer. */
  abandon(): void {
    this.#response.destroy();
  }
}
