import type { Command } from 'commander';
import type { CommandRunner } from './command-runner.ts';

/** Adds `set-up-link`, `inbox-link` and `operator …`: first access and operators. */
export function addLinkCommands(program: Command, run: CommandRunner): void {
  program
    .command('set-up-link')
    .description('print a link that creates the first owner; it works once, within a day')
    .action(run(async () => (await import('./print-link.ts')).printSetUpLink));
  program
    .command('inbox-link')
    .description('print a link that opens the inbox in a browser; it works once, within a day')
    .action(run(async () => (await import('./print-link.ts')).printInboxLink));
  const operator = program
    .command('operator')
    .description('list, add and remove operators, who run the whole installation');
  operator
    .command('list')
    .description('list operators by email address')
    .action(run(async () => (await import('./operator.ts')).listOperatorsCommand));
  for (const [action, description] of [
    ['add', 'make a user an operator'],
    ['remove', 'remove a user’s operator role'],
  ] as const) {
    operator
      .command(action)
      .description(description)
      .argument('<email>')
      .action(
        run(async () => (await import('./operator.ts')).changeOperatorCommand.bind(null, action)),
      );
  }
}
