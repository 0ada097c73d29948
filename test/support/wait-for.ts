/** Not the time of day, which jumps when a machine was stopped, and no clock that a test moves. */
const monotonicMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);

/**
 * Polls `probe` until it returns something other than undefined or false.
 * @param timeoutMs fails with the text of `what` after this time; long enough that a busy machine doesn't fail a test
 */
export async function waitFor<Value>(
  what: string,
  probe: () => Promise<Value | undefined | false> | Value | undefined | false,
  timeoutMs = 60_000,
): Promise<Value> {
  const began = monotonicMs();
  for (;;) {
    const value = await probe();
    if (value !== undefined && value !== false) return value;
    const waited = monotonicMs() - began;
    if (waited > timeoutMs) throw new Error(`timed out after ${timeoutMs} ms waiting for ${what}`);
    // A probe often asks the service, which it shouldn't keep from what the test waits for.
    await new Promise((resolve) => setTimeout(resolve, Math.min(100, 10 + waited / 10)));
  }
}
