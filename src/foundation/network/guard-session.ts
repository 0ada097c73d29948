import type { EventEmitter } from 'node:events';
import type { Log } from '../log.ts';

/**
 * Runs what a client's bytes reach. If it throws, at once or later, only the client's session ends: an error that nobody catches
 * ends the process, and with it everybody's sessions.
 * @param end ends the session
 */
export function guardSession(work: () => unknown, end: () => void, log: Log): void {
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
