import '../lower-thread-priority.ts';
import { serveThread } from '../serve-thread.ts';
import type { MailJob } from './mail-threads.ts';

interface JobModule {
  run(input: unknown): unknown;
}

serveThread<MailJob, unknown>(async ({ file, input }) => {
  const { run } = (await import(file)) as JobModule;
  return run(input);
});
