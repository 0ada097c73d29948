import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** Options of the runtime, read from `bin/signalpost`. */
export const runtimeOptions: readonly string[] = readRuntimeOptions();

function readRuntimeOptions(): readonly string[] {
  const program = readFileSync(join(root, 'bin/signalpost'), 'utf8');
  const [, options] = /^exec "\$node" (.+) "\$main" "\$@"$/m.exec(program) ?? [];
  if (options === undefined) throw new Error('bin/signalpost does not say how it runs Node');
  return options.split(' ');
}

/** The runtime's part of the environment, as `bin/signalpost` has it: compiled code is kept between starts. */
export const runtimeEnvironment = {
  NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
} as const;
