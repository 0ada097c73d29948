import type { Command } from 'commander';
import type { CreateKeyOptions } from './create-key.ts';

/** `key create ACCOUNT`. */
export function addCreateKey(
  key: Command,
  environment: Readonly<Record<string, string | undefined>>,
  done: (exitCode: number) => void,
): void {
  key
    .command('create')
    .description('create an API key and print it once')
    .argument('<account>')
    .requiredOption('--name <name>', 'what the key is for')
    .requiredOption('--scope <scope>', 'permission, such as messages:send; repeatable', gather)
    .option('--expires-in-days <number>', 'days until it expires; default: never')
    .option('--network <cidr>', 'network that requests must come from; repeatable', gather)
    .option('--template <id>', 'template that it may send with; repeatable', gather)
    .action(async (account: string, options: CreateKeyOptions) => {
      const { createKey } = await import('./create-key.ts');
      done(await createKey(account, options, environment));
    });
}

function gather(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
