import type { ChildProcess } from 'node:child_process';

/** Waits until a child process has exited or failed to start; never rejects. */
export function waitForExit(
  child: ChildProcess,
): Promise<{ code: number | null; problem?: string }> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, problem: error.message }));
    child.once('exit', (code, signal) => {
      resolve(signal ? { code, problem: `terminated by ${signal}` } : { code });
    });
  });
}
