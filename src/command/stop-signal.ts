/** Under npm, a terminal's Ctrl-C arrives twice: from the terminal, which signals the whole group, and from npm. */
const duplicateSignalMs = 500;

/**
 * Aborts at the first SIGTERM, SIGINT or SIGHUP; a second one, after a moment, ends the process at once. A parent
 * process can send the message `stop` instead, which never counts as a second signal.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => controller.abort(new Error('stop requested'));
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

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
}
