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
    .description('rotate the master key; repeat until it reports that it’s done')
    .option('--finish', 'list what depends on the previous key')
    .option('--yes', 'with --finish: remove the previous key')
    .addHelpText('after', '\nFor the steps, see docs/operate/harden.md.')
    .action(async (options: RotateMasterOptions) => {
      const { rotateMaster } = await import('../rotate-master.ts');
      done(await rotateMaster(options, environment));
    });
}
