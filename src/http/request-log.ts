import type { FastifyBaseLogger } from 'fastify';
import type { Log } from '../foundation/log.ts';

type Method = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

/**
 * The log of one request, whose lines carry the request's id. Nearly no request writes any, and a log of its own costs it
 * more than its routing, so it is made for the first line. Its methods are those of the class, since Fastify looks at each
 * of them for every request.
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
