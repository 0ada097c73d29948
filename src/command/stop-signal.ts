/**
 * Aborts at the first SIGTERM, SIGINT or SIGHUP; a second one ends the process at once. A parent process may ask by the
 * message `stop` instead, which a terminal's signal to the whole group does not turn into a second one.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => controller.abort(new Error('asked to stop'));
  let signals = 0;
  const onSignal = (): void => {
    signals += 1;
    if (signals > 1) process.exit(1);
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
