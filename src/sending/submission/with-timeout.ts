import { Fault } from '../../base/values/errors.ts';
import type { MaybePromise } from '../../base/values/maybe-promise.ts';
import { within } from '../../base/values/within.ts';

/** How long a request waits for a lookup. */
const timeoutMs = 4_000;

/**
 * Limits the wait for a lookup that isn't done, so that a database that hangs without closing its connections doesn't hang the caller.
 * @throws Fault IO_EXCEPTION on timeout
 */
export function withTimeout<Value>(lookup: MaybePromise<Value>): MaybePromise<Value> {
  if (!(lookup instanceof Promise)) return lookup;
  return within(lookup, timeoutMs, () => {
    throw new Fault('IO_EXCEPTION', { cause: new Error('a lookup timed out') });
  });
}
