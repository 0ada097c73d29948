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
      'puts a new master key in the place of SIGNALPOST_KEY; run it again until it says that it is done',
    )
    .option('--finish', 'says what works by the previous key alone')
    .option('--yes', 'with --finish: ends the previous key')
    .addHelpText('after', '\ndocs/operate/harden.md has the steps.')
    .action(async (options: RotateMasterOptions) => {
      const { rotateMaster } = await import('../rotate-master.ts');
      done(await rotateMaster(options, environment));
    });
}
