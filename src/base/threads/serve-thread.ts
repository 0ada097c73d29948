import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { ThreadAnswer } from './thread-pool.ts';

/** The lowest priority (highest nice value): about 1% of a busy processor, and all of an idle one. */
const niceness = 19;

/**
 * Imported first by thread files, so the thread and the libraries it loads yield to the event loop and the database. Only Linux
 * has per-thread priorities; elsewhere this would slow down the whole process.
 */
if (process.platform === 'linux')
  try {
    setPriority(niceness);
  } catch {
    // A sandbox may forbid it; jobs have time limits anyway.
  }

/** Runs the jobs of a `ThreadPool` thread; call it once everything the jobs need is loaded. */
export function serveThread<Job, Result>(work: (job: Job) => Promise<Result>): void {
  parentPort?.on('message', async (job: Job) => {
    const response: ThreadAnswer<Result> = await work(job).then(
      (result) => ({ result }),
      (fault: unknown) => ({ fault }),
    );
    parentPort?.postMessage(
      isPolluted() ? { fault: new Error('a job changed all objects') } : response,
    );
  });
  parentPort?.postMessage('ready');
}

/** A library that takes a name from outsiders for its own can write to the prototype of all objects. */
function isPolluted(): boolean {
  return Object.keys(Object.prototype).length > 0;
}
