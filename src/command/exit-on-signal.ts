import { constants } from 'node:os';

let watching = false;

/**
 * Exits on a signal instead of being killed, because only an exit stops the embedded database, which runs in its own
 * session and doesn't get Ctrl-C. Uncommitted changes are rolled back.
 */
export function exitOnSignal(): void {
  if (watching) return;
  watching = true;
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.once(name, () => process.exit(128 + constants.signals[name]));
}
