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
    .description(
      'replaces the master key (SIGNALPOST_KEY); repeat until it reports that it is done',
    )
    .option('--finish', 'lists what still depends on the previous key')
    .option('--yes', 'with --finish: removes the previous key')
    .addHelpText('after', '\nSee docs/hardening.md for the steps.')
    .action(async (options: RotateMasterOptions) => {
      const { rotateMaster } = await import('../rotate-master.ts');
      done(await rotateMaster(options, environment));
    });
}
