import { Fault } from '../foundation/errors.ts';

/** How long a request waits for a lookup. */
const defaultTimeoutMs = 4_000;

/**
 * Limits the wait for a lookup, so that a database that hangs without closing its connections doesn't hang the caller.
 * @throws Fault IO_EXCEPTION on timeout
 */
export async function withTimeout<Value>(
  lookup: Promise<Value>,
  timeoutMs = defaultTimeoutMs,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Fault('IO_EXCEPTION', { cause: new Error('a lookup timed out') }));
    }, timeoutMs);
  });
  try {
    return await Promise.race([lookup, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
