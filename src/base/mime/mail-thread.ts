import '../threads/lock-intrinsics.ts';
import '../threads/serve-thread.ts';
import { serveThread } from '../threads/serve-thread.ts';
import { type MailJob, toBuffer } from './mail-threads.ts';

serveThread<MailJob, unknown>(async ({ file, run, input }) => {
  const jobs = (await import(file)) as Readonly<Record<string, (job: unknown) => unknown>>;
  return jobs[run]?.({ ...input, source: toBuffer(input.source) });
});
