import { extname } from 'node:path';
import { policies } from '../../../base/fairness/policies.ts';
import { ThreadOverrun, ThreadPool } from '../../../base/threads/thread-pool.ts';
import type { Preview, PreviewJob } from './make-preview.ts';

/** In the published package the file is plain JavaScript, hence the variable extension. */
const threadFile = new URL(`./preview-thread${extname(import.meta.filename)}`, import.meta.url);

/** Time limit of a preview, in milliseconds. */
const maxPreviewMs = 5_000;

/** Heap limit of a thread, in megabytes. */
const maxHeapMb = 256;

/** Shared by the process; threads start with the first preview. */
const threads = new ThreadPool<PreviewJob, Preview>({
  file: threadFile,
  timeout: maxPreviewMs,
  heap: maxHeapMb,
  policy: policies.previewThreads,
});

/**
 * Runs `makePreview` off the event loop, because anyone with read access can preview arbitrary content.
 * @param accountId accounts take turns
 * @throws Busy if the account has too many previews running
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
    return {
      problems: [problem],
      fields: [],
      examples: {},
      variant: null,
      rendered: null,
      hints: [],
    };
  }
}
