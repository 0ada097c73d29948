/**
 * Waits for a promise no longer than a time.
 * @param late gives the result if it takes longer, or throws
 */
export async function within<Value, Late>(
  promise: Promise<Value>,
  timeoutMs: number,
  late: () => Late,
): Promise<Value | Late> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  return await Promise.race([promise, timeout.then(late)]).finally(() => clearTimeout(timer));
}
