import type { Command } from 'commander';
import type { RotateMasterOptions } from '../rotate-master.ts';

/** Adds `key rotate-master`. */
export function addRotateMaster(
  key: Command,
  environment: Readonly<Record<string, string | undefined>>,
  done: (exitCode: number) => void,
): void {
  key
    .command('rotate-master')
    .description('replace the master key; run it again until it says that it is done')
    .option('--finish', 'list what depends on the previous key')
    .option('--yes', 'with --finish: end the previous key')
    .addHelpText('after', '\ndocs/operate/harden.md has the steps.')
    .action(async (options: RotateMasterOptions) => {
      const { rotateMaster } = await import('../rotate-master.ts');
      done(await rotateMaster(options, environment));
    });
}
