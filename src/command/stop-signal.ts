/** A terminal's Ctrl-C comes twice under npm: from the terminal to the whole group, and again from npm. */
const duplicateSignalMs = 500;

/**
 * Aborts at the first SIGTERM, SIGINT or SIGHUP; a second one, somewhat later, ends the process at once. A parent process
 * may ask by the message `stop` instead, which a terminal's signal to the whole group does not turn into a second one.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => controller.abort(new Error('asked to stop'));
  let first: number | undefined;
  const onSignal = (): void => {
    first ??= performance.now();
    if (performance.now() - first > duplicateSignalMs) process.exit(1);
    stop();
  };
  process.on('message', (message) => {
    if (message === 'stop') stop();
  });
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, onSignal);
  return controller.signal;
}

/** Resolves once the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
}
