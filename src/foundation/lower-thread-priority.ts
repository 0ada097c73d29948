import { setPriority } from 'node:os';

/** The lowest priority (highest nice value): about 1% of a busy processor, and all of an idle one. */
const niceness = 19;

/**
 * Imported first by thread files, so the thread and the libraries it loads yield to the event loop and the database. Only Linux
 * has per-thread priorities; elsewhere this would slow down the whole process.
 */
if (process.platform === 'linux')
  try {
    setPriority(niceness);
  } catch {
    // A sandbox may forbid it; jobs have time limits anyway.
  }
