import type { Command } from 'commander';
import type { RotateKeyOptions } from './rotate-key.ts';

/** `key rotate ACCOUNT ID`. */
export function addRotateKey(
  key: Command,
  environment: Readonly<Record<string, string | undefined>>,
  done: (exitCode: number) => void,
): void {
  key
    .command('rotate')
    .description('replaces an API key and prints the new one; both work during the overlap')
    .argument('<account>')
    .argument('<id>', 'as shown by `key list`')
    .option('--overlap-hours <number>', 'how long the old key keeps working, 0 to 720', '24')
    .action(async (account: string, id: string, options: RotateKeyOptions) => {
      const { rotateKey } = await import('./rotate-key.ts');
      done(await rotateKey(account, id, options, environment));
    });
}
