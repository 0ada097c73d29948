import type { FastifyBaseLogger } from 'fastify';
import type { Log } from '../foundation/log.ts';

type Method = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

/**
 * The log of one request, whose lines carry the request's id. Nearly no request writes any, and a log of its own costs it
 * more than its routing, so it is made for the first line.
 */
export class RequestLog implements FastifyBaseLogger {
  readonly #parent: Log;
  readonly #bindings: Record<string, unknown>;
  #own: Log | undefined;

  /** @param bindings members of each line */
  constructor(parent: Log, bindings: Record<string, unknown>) {
    this.#parent = parent;
    this.#bindings = bindings;
  }

  get level() {
    return this.#parent.level;
  }
  get fatal() {
    return this.#at('fatal');
  }
  get error() {
    return this.#at('error');
  }
  get warn() {
    return this.#at('warn');
  }
  get info() {
    return this.#at('info');
  }
  get debug() {
    return this.#at('debug');
  }
  get trace() {
    return this.#at('trace');
  }
  get silent() {
    return this.#parent.silent;
  }

  child(...given: Parameters<Log['child']>): FastifyBaseLogger {
    return this.#log().child(...given);
  }

  /** Writes at a level; where that is off, nothing is made. */
  #at(method: Method): Log['info'] {
    if (!this.#parent.isLevelEnabled(method)) return this.#parent.silent;
    const log = this.#log();
    return log[method].bind(log);
  }

  #log(): Log {
    this.#own ??= this.#parent.child(this.#bindings);
    return this.#own;
  }
}
