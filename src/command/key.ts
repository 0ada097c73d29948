import type { Command } from 'commander';
import type { CreateKeyOptions, RotateKeyOptions } from './api-key.ts';
import type { RotateMasterOptions } from './rotate-master.ts';
import type { CommandShell, JsonOption } from './shell.ts';

/** Adds `key …`. */
export function addKeyCommands(program: Command, shell: CommandShell): void {
  const key = program
    .command('key')
    .description('create, list, rotate and revoke API keys, and rotate the master key');
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
      const { createKey } = await import('./api-key.ts');
      shell.exitCode = await createKey(account, options, shell);
    });
  key
    .command('list')
    .description('list the API keys of an account, newest first, without their secrets')
    .argument('<account>')
    .action(async (account: string, options: JsonOption) => {
      const { listKeys } = await import('./api-key.ts');
      shell.exitCode = await listKeys(account, options, shell);
    });
  key
    .command('rotate')
    .description('replace an API key and print the new one; both work for a while')
    .argument('<account>')
    .argument('<id>', 'ID shown by `key list`')
    .option('--overlap-hours <number>', 'how long the old key keeps working, 0 to 720', '24')
    .action(async (account: string, id: string, options: RotateKeyOptions) => {
      const { rotateKey } = await import('./api-key.ts');
      shell.exitCode = await rotateKey(account, id, options, shell);
    });
  key
    .command('revoke')
    .description('revoke an API key, on every node within a second')
    .argument('<account>')
    .argument('<id>', 'ID shown by `key list`')
    .action(async (account: string, id: string, options: JsonOption) => {
      const { revokeKey } = await import('./api-key.ts');
      shell.exitCode = await revokeKey(account, id, options, shell);
    });
  key
    .command('rotate-master')
    .description('rotate the master key; repeat until it reports that it’s done')
    .option('--finish', 'list what depends on the previous key')
    .option('--yes', 'with --finish: remove the previous key')
    .addHelpText('after', '\nFor the steps, see docs/operate/harden.md.')
    .action(async (options: RotateMasterOptions) => {
      const { rotateMaster } = await import('./rotate-master.ts');
      shell.exitCode = await rotateMaster(options, shell);
    });
}

function gather(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
