import asyncHooks from 'node:async_hooks';
import fc from 'fast-check';

/** Preloaded into the processes of tests. */

// The runner follows every promise and handle of a process to say in which test an exception was thrown that nobody caught,
// which costs a sixth of the processor time. Without that, such an exception fails its file.
const { createHook } = asyncHooks;
asyncHooks.createHook = (callbacks) =>
  createHook(String(callbacks.init).includes('testResources') ? {} : callbacks);

fc.configureGlobal({
  numRuns: Number(process.env.PROPERTY_RUNS ?? 25),
  // Where each run needs a database, a thousand would take hours.
  interruptAfterTimeLimit: 60_000,
});
