import { Fault } from '../foundation/errors.ts';
import type { MaybePromise } from '../foundation/maybe-promise.ts';

/** How long a request waits for a lookup. */
const timeoutMs = 4_000;

/**
 * Limits the wait for a lookup that isn't done, so that a database that hangs without closing its connections doesn't hang the caller.
 * @throws Fault IO_EXCEPTION on timeout
 */
export function withTimeout<Value>(lookup: MaybePromise<Value>): MaybePromise<Value> {
  if (!(lookup instanceof Promise)) return lookup;
  return limitWait(lookup, timeoutMs, lookupTimeout);
}

function lookupTimeout(): Fault {
  return new Fault('IO_EXCEPTION', { cause: new Error('a lookup timed out') });
}

/** Waits for a promise, but not longer. @throws the fault on timeout */
export async function limitWait<Value>(
  waiting: Promise<Value>,
  maxMs: number,
  makeFault: () => Fault,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(makeFault()), maxMs);
  });
  try {
    return await Promise.race([waiting, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
