/** Options of the runtime, as `bin/signalpost` has them. */
export const runtimeOptions = [
  '--disable-warning=ExperimentalWarning',
  '--max-semi-space-size=8',
] as const;
