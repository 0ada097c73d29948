import { totalmem } from 'node:os';

const mebibyte = 1_024 * 1_024;

/** With this much memory for each process, in bytes, its budgets aren't reduced. */
export const fullMemory = 2_048 * mebibyte;
/** Less would not hold a message of the default maximum size. */
const minShare = 1 / 4;

/** The memory that this process and its group can use, in bytes: the limit of the container or unit, or the machine's. */
export function readMemoryLimit(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** `512 MiB` */
export function describeMemoryLimit(): string {
  return `${Math.round(readMemoryLimit() / mebibyte)} MiB`;
}

/**
 * How much of its memory budgets a process uses, so that it isn't killed where memory is limited: from 1/4, with 512 MiB or
 * less, to 1.
 * @param processes number of processes that share the memory, including this one
 */
export function memoryShare(processes = 1): number {
  return Math.min(1, Math.max(minShare, readMemoryLimit() / processes / fullMemory));
}
