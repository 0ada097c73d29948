import { type EventEmitter, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { SMTPServer } from 'smtp-server';
import type { Log } from '../values/log.ts';

/**
 * Runs what a client's bytes reach. If it throws, at once or later, only the client's session ends: an error that nobody catches
 * ends the process, and with it everybody's sessions.
 * @param end ends the session
 */
function guardSession(work: () => unknown, end: () => void, log: Log): void {
  const fail = (error: unknown): void => {
    log.error({ err: error }, 'a session ended because of an internal error');
    end();
  };
  try {
    const result = work();
    if (result instanceof Promise) result.catch(fail);
  } catch (error) {
    fail(error);
  }
}

/** A listener of the server that throws ends only the connection or request that it got. Without one, the error isn't a session's. */
export function guardListeners(server: EventEmitter, log: Log): void {
  const emit = server.emit.bind(server);
  server.emit = (event, ...values: unknown[]) => {
    const ended = values.filter(isDestroyable);
    if (ended.length === 0) return emit(event, ...values);
    let isHeard = false;
    guardSession(
      () => {
        isHeard = emit(event, ...values);
      },
      () => {
        for (const value of ended) value.destroy();
      },
      log,
    );
    return isHeard;
  };
}

function isDestroyable(value: unknown): value is { destroy(): void } {
  return typeof value === 'object' && value !== null && 'destroy' in value;
}

/** An SMTP reply other than 250, for smtp-server's callbacks. */
export class SmtpReplyError extends Error {
  readonly responseCode: number;

  constructor(responseCode: number, message: string) {
    super(message);
    this.responseCode = responseCode;
  }
}

/** A running SMTP server. */
export interface SmtpListener {
  readonly port: number;
  /** Stops accepting connections, gives active sessions a moment to finish, then ends them. */
  stop(): Promise<void>;
}

const handlers = ['onConnect', 'onSecure', 'onAuth', 'onMailFrom', 'onRcptTo', 'onData', 'onClose'];

function guardHandlers(server: SMTPServer, log: Log): void {
  guardListeners(server.server, log);
  const own = server as unknown as Record<string, (...values: unknown[]) => unknown>;
  for (const name of handlers) {
    const handle = own[name]?.bind(server);
    if (handle === undefined) continue;
    own[name] = (...values) => {
      const end = (): void => {
        for (const connection of server.connections)
          if (values.includes(connection.session))
            connection.send(421, '4.3.0 Internal error, try again later');
      };
      guardSession(() => handle(...values), end, log);
    };
  }
}

/**
 * Starts listening.
 * @param port 0 picks a free one
 * @param log gets the errors of handlers
 */
export async function listenForSmtp(
  server: SMTPServer,
  port: number,
  host: string,
  log: Log,
): Promise<SmtpListener> {
  guardHandlers(server, log);
  server.listen(port, host);
  await once(server.server, 'listening');
  return {
    port: (server.server.address() as AddressInfo).port,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
