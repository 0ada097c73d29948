import type { Command } from 'commander';
import type { TypesOptions } from './types.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Adds `types`, for programs that send with the templates of an account. */
export function addTemplateCommands(
  program: Command,
  environment: Environment,
  done: (exitCode: number) => void,
): void {
  program
    .command('types')
    .description('write TypeScript types of published templates for signalpost-client')
    .option('--url <url>', 'running service, with an API key in SIGNALPOST_KEY (templates:read)')
    .option('--manifest <file>', 'manifest to read instead of a service')
    .option('--account <id>', 'account of the manifest, if several have templates')
    .option('--out <file>', 'file to write, such as signalpost.d.ts; default: standard output')
    .option('--check', 'compare the file instead, and exit with 1 if it doesn’t fit')
    .action(async (options: TypesOptions) => {
      const { typesCommand } = await import('./types.ts');
      done(await typesCommand(options, environment));
    });
}
