import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import { newId } from '../foundation/ids.ts';
import type { Log } from '../foundation/log.ts';
import { RequestLog } from './request-log.ts';

/** A request that is answered without the framework, and its answer. */
export class Exchange {
  /** Of the request: in its answer, and in what it logs. */
  readonly id = newId();
  readonly request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #log: Log;
  readonly #route: string;
  readonly #closing: () => boolean;
  readonly #startedAt = performance.now();

  /**
   * @param route what its line in the log calls it
   * @param closing true once the server ends, and its connections with their answers
   */
  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    context: { readonly log: Log; readonly route: string; readonly closing: () => boolean },
  ) {
    this.request = request;
    this.#response = response;
    this.#log = context.log;
    this.#route = context.route;
    this.#closing = context.closing;
  }

  /** Milliseconds since the head of the request was read. */
  get elapsed(): number {
    return performance.now() - this.#startedAt;
  }

  /** Writes lines that carry the request's id. */
  get log(): FastifyBaseLogger {
    return new RequestLog(this.#log, { requestId: this.id });
  }

  /**
   * Answers once, in one write; nobody where the client is gone.
   * @param json the body
   * @param headers further ones: name, value, name, value…
   */
  answer(status: number, json: string, headers: readonly string[] = []): void {
    const response = this.#response;
    const head = ['x-request-id', this.id, 'content-type', 'application/json; charset=utf-8'];
    head.push('content-length', String(Buffer.byteLength(json)), ...headers);
    if (this.#closing()) head.push('connection', 'close');
    response.writeHead(status, head);
    response.end(json);
    if (this.#log.isLevelEnabled('debug'))
      this.log.debug({ method: this.request.method, route: this.#route, status }, 'answered');
  }

  /** Ends the connection without an answer. */
  abandon(): void {
    this.#response.destroy();
  }
}
