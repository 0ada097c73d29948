import '../foundation/lower-thread-priority.ts';
import { serveThread } from '../foundation/serve-thread.ts';
import { compileSource } from './compile-source.ts';

serveThread(compileSource);
