import type { Command } from 'commander';
import type { AuditOptions } from './audit.ts';
import type { UserOptions } from './user.ts';
import { type UserActionName, userActions } from './user-actions.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Adds `integration …`, `user …` and `audit`: management of sign-ins and integrations. */
export function addSessionCommands(
  program: Command,
  environment: Environment,
  done: (exitCode: number) => void,
): void {
  const integration = program
    .command('integration')
    .description('shows and changes registered integrations, even while the service runs');
  integration
    .command('list')
    .description('lists all integrations')
    .action(async () => {
      const { listIntegrationsCommand: listIntegrations } = await import('./integration.ts');
      done(await listIntegrations(environment));
    });
  integration
    .command('show')
    .description('shows an integration and the rest of its allowance')
    .argument('<client-id>')
    .action(async (clientId: string) => {
      const { showIntegration } = await import('./integration.ts');
      done(await showIntegration(clientId, environment));
    });
  integration
    .command('set')
    .description('changes settings that aren’t part of the manifest')
    .argument('<client-id>')
    .option('--disabled <yes|no>', 'whether the integration and its tokens are refused')
    .option('--pkce <required|optional>', 'whether its code grant requires PKCE')
    .option('--allowance <number>', 'initial token requests per person per hour')
    .action(async (clientId: string, options: Record<string, string>) => {
      const { setIntegration } = await import('./integration.ts');
      done(await setIntegration(clientId, options, environment));
    });
  integration
    .command('rotate-secret')
    .description('creates a new client secret and prints it once')
    .argument('<client-id>')
    .option('--overlap <time>', 'how long the old secret keeps working: 30m, 24h, 7d, or 0', '24h')
    .action(async (clientId: string, options: { overlap: string }) => {
      const { rotateClientSecretCommand: rotateSecret } = await import('./integration.ts');
      done(await rotateSecret(clientId, options, environment));
    });
  const user = program
    .command('user')
    .description('locks users out and helps those who lost a second factor');
  for (const [action, description] of Object.entries(userActions)) {
    const command = user.command(action).description(description).argument('<email>');
    if (action === 'disable')
      command.option(
        '--keys-to <email>',
        'new owner of the API keys that the person created, in the accounts that they own; other keys are removed',
      );
    command.action(async (email: string, options: UserOptions) => {
      const { userCommand } = await import('./user.ts');
      done(await userCommand(action as UserActionName, email, options, environment));
    });
  }
  program
    .command('audit')
    .description('lists security-relevant events, newest first')
    .option('--person <email>', 'of one person')
    .option('--client <client-id>', 'of one integration')
    .option('--kind <kind>', 'such as sign_in, password_grant, refresh_token_reused')
    .option('--outcome <success|refused>')
    .option('--address <address>', 'from one address')
    .option('--since <time>', 'since this time')
    .option('--most <number>', 'maximum number of events', '100')
    .option('--json', 'as JSON, one event per line')
    .action(async (options: AuditOptions) => {
      const { auditCommand } = await import('./audit.ts');
      done(await auditCommand(options, environment));
    });
}
