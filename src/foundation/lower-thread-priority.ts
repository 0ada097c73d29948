import { setPriority } from 'node:os';

/** The most there is, where 0 is the process's own: such a thread gets a hundredth of a busy processor, and all of an idle one. */
const niceness = 19;

/**
 * Imported first by the file of a thread: the thread, with the libraries that it loads, leaves the processors to the event
 * loop and to the database. Only Linux has priorities of threads; elsewhere this would slow down the whole process.
 */
if (process.platform === 'linux')
  try {
    setPriority(niceness);
  } catch {
    // A sandbox may forbid it; jobs are bounded in time anyway.
  }
