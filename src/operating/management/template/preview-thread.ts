import '../../../base/threads/lock-intrinsics.ts';
import '../../../base/threads/serve-thread.ts';
import { serveThread } from '../../../base/threads/serve-thread.ts';
import { makePreview } from './make-preview.ts';

// Warms up the libraries, so loading them doesn't count against a preview's time limit.
await makePreview({
  content: { subject: '', mjml: '<mjml><mj-body></mj-body></mjml>' },
  format: undefined,
  values: undefined,
  locale: undefined,
  subjectLine: undefined,
  previewText: undefined,
});
serveThread(makePreview);
