import { testBurst } from '../../test-system/support/memory-scene.ts';

testBurst({ messages: 6_000, files: 100, timeoutMs: 1_700_000 });
