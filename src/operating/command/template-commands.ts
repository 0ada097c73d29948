import type { Command } from 'commander';
import type { CommandFunction, CommandRunner } from './command-runner.ts';
import type { TemplateOptions } from './template/run-template-command.ts';

/** Adds `types`, `template …`, `import` and `mcp`, which call a running service with an API key. */
type TemplateCommand = CommandFunction<[ids: readonly string[], options: TemplateOptions]>;

export function addTemplateCommands(program: Command, run: CommandRunner): void {
  program
    .command('types')
    .description('write TypeScript types of published templates for signalpost-client')
    .option(
      '--url <url>',
      'running service, with an API key in SIGNALPOST_API_KEY (templates:read)',
    )
    .option('--manifest <file>', 'manifest to read instead of a service')
    .option('--openapi <file>', 'OpenAPI document of an earlier run to read instead')
    .option('--account <id>', 'account of the manifest, if several have templates')
    .option(
      '--out <file>',
      'file to write: types such as signalpost-templates.d.ts, or an OpenAPI document if it ends in .json; default: standard output',
    )
    .option('--check', 'compare the file instead, and exit with 1 if it’s out of date')
    .action(run(async () => (await import('./types.ts')).typesCommand));
  program
    .command('mcp')
    .description('serve tools for agents (Model Context Protocol) on standard input and output')
    .option('--url <url>', 'running service, with an API key in SIGNALPOST_API_KEY')
    .option('--allow-write', 'also offer tools that send tests and save drafts')
    .action(run(async () => (await import('./mcp/serve-mcp.ts')).serveMcp));
  program
    .command('import')
    .description('import templates and suppressed addresses from another product')
    .argument('<product>', 'postmark, resend, sendgrid or mailgun')
    .option('--templates <files...>', 'API response for each template, as JSON')
    .option('--dir <folder>', 'folder to write the templates to, for template push')
    .option('--force', 'overwrite templates in the folder')
    .option('--strict', 'exit with 1 if a template uses something without a counterpart')
    .option('--suppressions <files...>', 'its suppressed addresses, as JSON or CSV')
    .option('--reason <reason>', 'reason for rows without one, such as hard_bounce')
    .option('--url <url>', 'running service, with an API key in SIGNALPOST_API_KEY')
    .action(run(async () => (await import('./import.ts')).runImport));
  const template = program
    .command('template')
    .description('keep templates as files: pull, push and compare them through the API');
  const add = (name: string, description: string, load: () => Promise<TemplateCommand>): Command =>
    template
      .command(name)
      .description(description)
      .argument('[templates...]', 'their IDs; default: all')
      .requiredOption('--dir <folder>', 'folder with a subfolder for each template')
      .option('--url <url>', 'running service, with an API key in SIGNALPOST_API_KEY')
      .action(run(load));
  add(
    'pull',
    'write the templates of an account into a folder',
    async () => (await import('./template/sync-templates.ts')).pullTemplates,
  ).option('--force', 'overwrite local changes in the folder');
  add(
    'push',
    'save the templates of a folder as drafts',
    async () => (await import('./template/sync-templates.ts')).pushTemplates,
  )
    .option('--react <files...>', 'React Email components to compile into the folder first')
    .option('--publish', 'publish them')
    .option('--base <folder>', 'an earlier state of the folder, whose content may be overwritten')
    .option('--force', 'overwrite changes made on the service')
    .option('--allow-breaking', 'publish even if recent callers would be rejected');
  add(
    'diff',
    'show what a push would change',
    async () => (await import('./template/sync-templates.ts')).diffTemplates,
  ).option('--exit-code', 'exit with 1 if there are changes');
}
