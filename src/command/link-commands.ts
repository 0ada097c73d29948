import type { Command } from 'commander';
import type { CommandShell, JsonOption } from './shell.ts';

/** Adds `set-up-link`, `inbox-link` and `operator …`: first access and operators. */
export function addLinkCommands(program: Command, shell: CommandShell): void {
  program
    .command('set-up-link')
    .description('print a link that creates the first owner; it works once, within a day')
    .action(async (options: JsonOption) => {
      const { printSetUpLink } = await import('./print-link.ts');
      shell.exitCode = await printSetUpLink(options, shell);
    });
  program
    .command('inbox-link')
    .description('print a link that opens the inbox in a browser; it works once, within a day')
    .action(async (options: JsonOption) => {
      const { printInboxLink } = await import('./print-link.ts');
      shell.exitCode = await printInboxLink(options, shell);
    });
  const operator = program
    .command('operator')
    .description('list, add and remove operators, who run the whole installation');
  operator
    .command('list')
    .description('list operators by email address')
    .action(async (options: JsonOption) => {
      const { listOperatorsCommand } = await import('./operator.ts');
      shell.exitCode = await listOperatorsCommand(options, shell);
    });
  for (const [action, description] of [
    ['add', 'make a user an operator'],
    ['remove', 'remove a user’s operator role'],
  ] as const) {
    operator
      .command(action)
      .description(description)
      .argument('<email>')
      .action(async (email: string, options: JsonOption) => {
        const { changeOperatorCommand } = await import('./operator.ts');
        shell.exitCode = await changeOperatorCommand(action, email, options, shell);
      });
  }
}
