import assert from 'node:assert/strict';

/**
 * Asserts that `work` takes less than this processor time of the test's thread, where quadratic time would take minutes. Other
 * load of the machine doesn't count.
 */
export function assertQuick(milliseconds: number, work: () => void): void {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  const used = Math.round((user + system) / 1_000);
  assert.ok(used < milliseconds, `${used} ms`);
}
