import '../../base/threads/lock-intrinsics.ts';
import '../../base/threads/serve-thread.ts';
import { serveThread } from '../../base/threads/serve-thread.ts';
import { compileVersion } from './compile-version.ts';

serveThread(compileVersion);
