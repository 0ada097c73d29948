import asyncHooks from 'node:async_hooks';
import { registerHooks } from 'node:module';
import fc from 'fast-check';

/** Preloaded into the processes of tests. */

// To know which test code belongs to, the runner follows every promise and handle of the process, which costs a fifth of the
// processor time. Tests know their file without that, and what nobody caught fails the file.
const { createHook } = asyncHooks;
asyncHooks.createHook = (callbacks) =>
  createHook(String(callbacks.init).includes('testResources') ? {} : callbacks);

const current = new URL('current-file.ts', import.meta.url).href;
registerHooks({
  resolve: (name, context, next) =>
    next(name === 'node:test' && context.parentURL !== current ? current : name, context),
});

fc.configureGlobal({
  numRuns: Number(process.env.PROPERTY_RUNS ?? 25),
  // Where each run needs a database, a thousand would take hours.
  interruptAfterTimeLimit: 60_000,
});
