import { Fault } from '../foundation/errors.ts';
import { within } from '../foundation/within.ts';

/** How long a request waits for a lookup. */
const defaultTimeoutMs = 4_000;

/**
 * Limits the wait for a lookup, so that a database that hangs without closing its connections doesn't hang the caller.
 * @throws Fault IO_EXCEPTION on timeout
 */
export function withTimeout<Value>(
  lookup: Promise<Value>,
  timeoutMs = defaultTimeoutMs,
): Promise<Value> {
  return within(lookup, timeoutMs, () => {
    throw new Fault('IO_EXCEPTION', { cause: new Error('a lookup timed out') });
  });
}
