import { Fault } from '../foundation/errors.ts';

/** How long a request waits for something to be looked up. */
const defaultTimeoutMs = 4_000;

/**
 * A look-up whose answer is waited for, but not for ever: a database that neither answers nor breaks its connections
 * would otherwise keep the caller waiting with it.
 * @throws Fault IO_EXCEPTION past the time
 */
export async function withTimeout<Value>(
  lookup: Promise<Value>,
  timeoutMs = defaultTimeoutMs,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Fault('IO_EXCEPTION', { cause: new Error('a look-up took too long') }));
    }, timeoutMs);
  });
  try {
    return await Promise.race([lookup, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
