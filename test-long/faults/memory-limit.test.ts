import { testBurst } from '../../test-system/support/memory-scene.ts';

testBurst({ messages: 20_000, files: 300, timeoutMs: 1_700_000 });
