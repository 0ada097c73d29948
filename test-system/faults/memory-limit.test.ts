import { testBurst } from '../support/memory-scene.ts';

testBurst({ messages: 300, files: 12, timeoutMs: 480_000 });
