import { constants } from 'node:os';

/**
 * For short commands that may start the embedded database. The database has its own session, so a terminal's Ctrl-C
 * doesn't reach it; it is stopped when this process exits, but a signal that kills the process at once would leave it
 * running. Uncommitted changes are rolled back.
 */
export function exitOnSignal(): void {
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.once(name, () => process.exit(128 + constants.signals[name]));
}
