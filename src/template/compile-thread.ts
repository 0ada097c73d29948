import '../foundation/lock-intrinsics.ts';
import '../foundation/serve-thread.ts';
import { serveThread } from '../foundation/serve-thread.ts';
import { compileVersion } from './compile-version.ts';

serveThread(compileVersion);
