import { constants } from 'node:os';

/**
 * For commands that may start the embedded database and are soon done. It runs in a session of its own, out of reach of a
 * terminal's Ctrl-C, and is ended as this process exits; a process that a signal ends at once would leave it running. What
 * the command had not committed is rolled back.
 */
export function exitOnSignal(): void {
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.once(name, () => process.exit(128 + constants.signals[name]));
}
