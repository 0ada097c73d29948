const due: (() => void)[] = [];

/**
 * Runs a callback after all input of this event loop turn has been read, but before long-running work of this turn
 * (`TurnQueue`). It must not throw.
 */
export function atEndOfTurn(run: () => void): void {
  if (due.push(run) === 1) setImmediate(endTurn);
}

/** Call before processor-intensive work. */
export function endTurn(): void {
  for (const run of due.splice(0)) run();
}
