import { join } from 'node:path';

/** Options of the runtime, as `bin/signalpost` has them. */
export const runtimeOptions = [
  '--disable-warning=ExperimentalWarning',
  '--max-semi-space-size=8',
] as const;

/** The runtime's part of the environment, as `bin/signalpost` has it: compiled code is kept between starts. */
export const runtimeEnvironment = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../node_modules/.cache/compiled'),
} as const;
