import type { Command } from 'commander';
import type { CommandRunner } from './command-runner.ts';

/** Adds `key …`. */
export function addKeyCommands(program: Command, run: CommandRunner): void {
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
    .action(run(async () => (await import('./api-key.ts')).createKey));
  key
    .command('list')
    .description('list the API keys of an account, newest first, without their secrets')
    .argument('<account>')
    .action(run(async () => (await import('./api-key.ts')).listKeys));
  key
    .command('rotate')
    .description('replace an API key and print the new one; both work for a while')
    .argument('<account>')
    .argument('<id>', 'ID shown by `key list`')
    .option('--overlap-hours <number>', 'how long the old key keeps working, 0 to 720', '24')
    .action(run(async () => (await import('./api-key.ts')).rotateKey));
  key
    .command('revoke')
    .description('revoke an API key, on every node within a second')
    .argument('<account>')
    .argument('<id>', 'ID shown by `key list`')
    .action(run(async () => (await import('./api-key.ts')).revokeKey));
  key
    .command('rotate-master')
    .description('rotate the master key; repeat until it reports that it’s done')
    .option('--finish', 'list what depends on the previous key')
    .option('--yes', 'with --finish: remove the previous key')
    .addHelpText('after', '\nFor the steps, see docs/operate/harden.md.')
    .action(run(async () => (await import('./rotate-master.ts')).rotateMaster));
}

function gather(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
