import { extname } from 'node:path';
import { ThreadOverrun, ThreadPool } from '../../foundation/thread-pool.ts';
import type { Preview, PreviewJob } from './make-preview.ts';

/** The published package holds the same file without types. */
const threadFile = new URL(`./preview-thread${extname(import.meta.filename)}`, import.meta.url);

/** Milliseconds that one preview may take. */
const maxPreviewMs = 5_000;

/** Megabytes of a thread's heap. */
const maxHeapMb = 256;

/** One for the process: its threads start with the first preview. */
const threads = new ThreadPool<PreviewJob, Preview>({
  file: threadFile,
  timeout: maxPreviewMs,
  heap: maxHeapMb,
  slotLimits: {
    what: 'previews',
    slots: 2,
    slotsPerGroup: 1,
    waiting: 64,
    waitingPerGroup: 4,
    timeout: 2 * maxPreviewMs,
    retryAfter: 2,
  },
});

/**
 * As `makePreview`, beside the event loop: whoever may read a template may have any source compiled with any values.
 * @param accountId accounts take turns
 * @throws Busy where the account has too many previews under way
 */
export async function previewInThread(job: PreviewJob, accountId: string): Promise<Preview> {
  try {
    return await threads.run(job, accountId);
  } catch (error) {
    if (!(error instanceof ThreadOverrun)) throw error;
    const slow = error.of === 'time';
    const problem = {
      severity: 'error',
      part: job.content.mjml === undefined ? 'html' : 'mjml',
      rule: slow ? 'too-slow' : 'too-large',
      message: `takes more than ${slow ? `${maxPreviewMs / 1_000} s` : `${maxHeapMb} MB`} to preview`,
    } as const;
    return { problems: [problem], fields: [], rendered: null, hints: [] };
  }
}
