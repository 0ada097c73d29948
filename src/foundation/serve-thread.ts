import { parentPort } from 'node:worker_threads';
import type { ThreadAnswer } from './thread-pool.ts';

/** What a thread of a `ThreadPool` does; to be called once it has loaded what every job needs. */
export function serveThread<Job, Result>(work: (job: Job) => Promise<Result>): void {
  parentPort?.on('message', async (job: Job) => {
    const answer: ThreadAnswer<Result> = await work(job).then(
      (result) => ({ result }),
      (fault: unknown) => ({ fault }),
    );
    parentPort?.postMessage(answer);
  });
  parentPort?.postMessage('ready');
}
