import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ThreadPool } from '../../src/base/threads/thread-pool.ts';
import { waitFor } from '../support/wait-for.ts';

const thread = `
  import { parentPort } from 'node:worker_threads';
  parentPort.on('message', (job) => {
    if (job === 'exit') process.exit(1);
    parentPort.postMessage({ result: job });
    if (job === 'fail later') setImmediate(() => { throw new Error('later'); });
  });
  parentPort.postMessage('ready');`;

test('a thread that ends in or after a job frees its slot', { timeout: 60_000 }, async () => {
  const slots = 2;
  const pool = new ThreadPool<string, string>({
    file: new URL(`data:text/javascript,${encodeURIComponent(thread)}`),
    timeout: 5_000,
    heap: 64,
    policy: {
      what: 'jobs',
      total: slots,
      share: slots,
      reserve: 0,
      wait: { callers: 10, perSharer: 10, ms: 5_000 },
      retryAfter: 1,
    },
  });
  for (let count = 0; count <= slots; count += 1)
    await assert.rejects(pool.run('exit', 'a'), /the thread ended/);
  // A job may meet a thread shortly before its end.
  for (let count = 0; count < 20; count += 1)
    for (const job of ['fail later', 'next'])
      await pool
        .run(job, 'a')
        .catch((error: Error) => assert.doesNotMatch(error.message, /Too many/));
  await waitFor('a thread', () => pool.run('last', 'a').catch(() => undefined));
});
