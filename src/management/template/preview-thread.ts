import { serveThread } from '../../foundation/serve-thread.ts';
import { makePreview } from './make-preview.ts';

serveThread(makePreview);
