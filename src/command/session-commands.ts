import type { Command } from 'commander';
import type { AuditOptions } from './audit.ts';
import type { UserOptions } from './user.ts';
import { type UserActionName, userActions } from './user-actions.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Adds `integration …`, `user …` and `audit`: integrations and sign-ins, for operators. */
export function addSessionCommands(
  program: Command,
  environment: Environment,
  done: (exitCode: number) => void,
): void {
  const integration = program.command('integration').description('list and change integrations');
  integration
    .command('list')
    .description('list all integrations')
    .action(async () => {
      const { listIntegrationsCommand: listIntegrations } = await import('./integration.ts');
      done(await listIntegrations(environment));
    });
  integration
    .command('show')
    .description('show an integration and its remaining allowance')
    .argument('<client-id>')
    .action(async (clientId: string) => {
      const { showIntegration } = await import('./integration.ts');
      done(await showIntegration(clientId, environment));
    });
  integration
    .command('set')
    .description('change settings that aren’t in the manifest')
    .argument('<client-id>')
    .option('--disabled <yes|no>', 'reject the integration and its tokens')
    .option('--pkce <required|optional>', 'whether the code grant must use PKCE')
    .option('--allowance <number>', 'initial token requests per user and hour')
    .action(async (clientId: string, options: Record<string, string>) => {
      const { setIntegration } = await import('./integration.ts');
      done(await setIntegration(clientId, options, environment));
    });
  integration
    .command('rotate-secret')
    .description('create a new client secret and print it once')
    .argument('<client-id>')
    .option('--overlap <time>', 'how long the old secret keeps working: 30m, 24h, 7d or 0', '24h')
    .action(async (clientId: string, options: { overlap: string }) => {
      const { rotateClientSecretCommand: rotateSecret } = await import('./integration.ts');
      done(await rotateSecret(clientId, options, environment));
    });
  const user = program
    .command('user')
    .description('disable users, and help users who can’t sign in');
  for (const [action, description] of Object.entries(userActions)) {
    const command = user.command(action).description(description).argument('<email>');
    if (action === 'disable')
      command.option(
        '--keys-to <email>',
        'owner who takes over the user’s API keys; without it, the keys are revoked',
      );
    command.action(async (email: string, options: UserOptions) => {
      const { userCommand } = await import('./user.ts');
      done(await userCommand(action as UserActionName, email, options, environment));
    });
  }
  program
    .command('audit')
    .description('list security-relevant events, newest first')
    .option('--person <email>', 'only this user')
    .option('--client <client-id>', 'only this integration')
    .option(
      '--kind <kind>',
      'only this kind, such as sign_in, password_grant or refresh_token_reused',
    )
    .option('--outcome <success|refused>', 'only this outcome')
    .option('--address <address>', 'only from this network address')
    .option('--since <time>', 'only since this time')
    .option('--most <number>', 'maximum number of events', '100')
    .option('--json', 'print JSON, one event per line')
    .action(async (options: AuditOptions) => {
      const { auditCommand } = await import('./audit.ts');
      done(await auditCommand(options, environment));
    });
}
