import { parentPort } from 'node:worker_threads';
import type { ThreadAnswer } from './thread-pool.ts';

/** Runs the jobs of a `ThreadPool` thread; call it once everything the jobs need is loaded. */
export function serveThread<Job, Result>(work: (job: Job) => Promise<Result>): void {
  parentPort?.on('message', async (job: Job) => {
    const response: ThreadAnswer<Result> = await work(job).then(
      (result) => ({ result }),
      (fault: unknown) => ({ fault }),
    );
    parentPort?.postMessage(response);
  });
  parentPort?.postMessage('ready');
}
