import type { Command } from 'commander';
import type { JsonOption } from './print.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Adds `set-up-link`, `inbox-link` and `operator …`: first access and operators. */
export function addLinkCommands(
  program: Command,
  environment: Environment,
  done: (exitCode: number) => void,
): void {
  program
    .command('set-up-link')
    .description('print a link that creates the first owner; it works once, within a day')
    .action(async (options: JsonOption) => {
      const { printSetUpLink } = await import('./print-link.ts');
      done(await printSetUpLink(options, environment));
    });
  program
    .command('inbox-link')
    .description('print a link that opens the inbox in a browser; it works once, within a day')
    .action(async (options: JsonOption) => {
      const { printInboxLink } = await import('./print-link.ts');
      done(await printInboxLink(options, environment));
    });
  const operator = program
    .command('operator')
    .description('list, add and remove operators, who run the whole installation');
  operator
    .command('list')
    .description('list operators by email address')
    .action(async (options: JsonOption) => {
      const { listOperatorsCommand } = await import('./operator.ts');
      done(await listOperatorsCommand(options, environment));
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
        const { changeOperator } = await import('./operator.ts');
        done(await changeOperator(action, email, options, environment));
      });
  }
}
