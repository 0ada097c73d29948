import { parentPort } from 'node:worker_threads';
import type { ThreadAnswer } from './thread-pool.ts';

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
