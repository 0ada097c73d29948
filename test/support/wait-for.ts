/**
 * Polls `probe` until it returns something other than undefined or false.
 * @param timeoutMs fails with the text of `what` after this time; long enough that a busy machine doesn't fail a test
 */
export async function waitFor<Value>(
  what: string,
  probe: () => Promise<Value | undefined | false> | Value | undefined | false,
  timeoutMs = 30_000,
): Promise<Value> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await probe();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > deadline)
      throw new Error(`timed out after ${timeoutMs} ms waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
