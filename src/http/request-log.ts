import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import type { Log } from '../foundation/log.ts';
import { isLostConnection } from '../foundation/network/lost-connection.ts';

type Method = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

/**
 * The logger of one request; each line carries the request id. Creating a logger costs more than routing and few
 * requests log anything, so it is created for the first line. Its methods are on the prototype, because Fastify
 * checks each of them for every request.
 */
export class RequestLog implements FastifyBaseLogger {
  readonly #parent: Log;
  #bindings: Record<string, unknown>;
  #own: Log | undefined;

  /** @param bindings added to each line */
  constructor(parent: Log, bindings: Record<string, unknown>) {
    this.#parent = parent;
    this.#bindings = bindings;
  }

  /** Adds bindings to the lines from here on. */
  bind(bindings: Record<string, unknown>): void {
    this.#bindings = { ...this.#bindings, ...bindings };
    this.#own = undefined;
  }

  get level() {
    return this.#parent.level;
  }

  fatal(...line: unknown[]): void {
    this.#write('fatal', line);
  }

  error(...line: unknown[]): void {
    this.#write('error', line);
  }

  warn(...line: unknown[]): void {
    this.#write('warn', line);
  }

  info(...line: unknown[]): void {
    this.#write('info', line);
  }

  debug(...line: unknown[]): void {
    this.#write('debug', line);
  }

  trace(...line: unknown[]): void {
    this.#write('trace', line);
  }

  silent(): void {}

  child(...given: Parameters<Log['child']>): FastifyBaseLogger {
    return this.#log().child(...given);
  }

  #write(method: Method, line: unknown[]): void {
    if (!this.#parent.isLevelEnabled(method)) return;
    const log = this.#log();
    (log[method] as (...line: unknown[]) => void).apply(log, line);
  }

  #log(): Log {
    this.#own ??= this.#parent.child(this.#bindings);
    return this.#own;
  }
}

/** Logs why a request failed; without the error if its client reset the connection, which clients can do as often as they like. */
export function logFailure(
  { raw, log }: Pick<FastifyRequest, 'raw' | 'log'>,
  error: unknown,
  message: string,
): void {
  if (isLostConnection(raw.errored)) log.debug('the client left in the middle of a request');
  else log.error({ err: error }, message);
}
