import '../../foundation/lower-thread-priority.ts';
import { serveThread } from '../../foundation/serve-thread.ts';
import { makePreview } from './make-preview.ts';

// Loads the libraries, whose time is not the preview's.
await makePreview({
  content: { subject: '', mjml: '<mjml><mj-body></mj-body></mjml>' },
  values: undefined,
  subjectLine: undefined,
  previewText: undefined,
});
serveThread(makePreview);
