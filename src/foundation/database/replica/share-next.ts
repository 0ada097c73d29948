/**
 * Shares readings among callers: each gets one that began after it asked, and at most one runs at a time.
 * @param read rejects for all callers that wait for it
 */
export function shareNext<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let running: Promise<unknown> | undefined;
  let next: Promise<Value> | undefined;
  const start = (): Promise<Value> => {
    next = undefined;
    const reading = read();
    const ended = reading.then(
      () => undefined,
      () => undefined,
    );
    running = ended;
    ended.then(() => {
      if (running === ended) running = undefined;
    });
    return reading;
  };
  return () => {
    if (running === undefined) return start();
    next ??= running.then(start);
    return next;
  };
}
