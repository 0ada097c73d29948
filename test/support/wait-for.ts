/**
 * Asks `probe` again and again until it answers something other than undefined or false.
 * @param timeoutMs how long at most; past it the wait fails and names `what`. Only a fault takes so long: a machine that
 *   has much else to do must not fail a test
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
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
