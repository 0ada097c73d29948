import fc from 'fast-check';

/** Preloaded into the processes of tests. */

fc.configureGlobal({
  numRuns: Number(process.env.PROPERTY_RUNS ?? 25),
  // Where each run needs a database, a thousand would take hours.
  interruptAfterTimeLimit: 60_000,
});
