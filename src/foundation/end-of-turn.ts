const due: (() => void)[] = [];

/**
 * Runs something once everything that came in this turn of the event loop has been read, and before the piece of long work
 * that this turn is given to (`TurnQueue`). It must not throw.
 */
export function atEndOfTurn(run: () => void): void {
  if (due.push(run) === 1) setImmediate(endTurn);
}

/** To be called before work that keeps the processor busy. */
export function endTurn(): void {
  for (const run of due.splice(0)) run();
}
