import { Fault } from '../foundation/errors.ts';

/** How long a request waits for something to be looked up. */
const patience = 4_000;

/**
 * A look-up whose answer is waited for, but not for ever: a database that neither answers nor breaks its connections
 * would otherwise keep the caller waiting with it.
 * @throws Fault IO_EXCEPTION past the time
 */
export async function inTime<Value>(
  looking: Promise<Value>,
  milliseconds = patience,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Fault('IO_EXCEPTION', { cause: new Error('a look-up took too long') }));
    }, milliseconds);
  });
  try {
    return await Promise.race([looking, late]);
  } finally {
    clearTimeout(timer);
  }
}
