import { type Command, Option } from 'commander';
import { roles } from '../account/account.ts';
import type { AddUserOptions, InviteOptions } from './add-user.ts';
import type { AuditOptions } from './audit.ts';
import type { IntegrationOptions, RotateSecretOptions } from './integration.ts';
import type { CommandShell, JsonOption } from './shell.ts';
import type { UserOptions } from './user.ts';
import { type UserActionName, userActions } from './user-actions.ts';

/** Adds `integration …`, `user …` and `audit`: integrations and sign-ins, for operators. */
export function addSessionCommands(program: Command, shell: CommandShell): void {
  const integration = program.command('integration').description('list and change integrations');
  integration
    .command('list')
    .description('list the integrations of an account, or all')
    .argument('[account]')
    .action(async (account: string | undefined, options: JsonOption) => {
      const { listIntegrationsCommand: listIntegrations } = await import('./integration.ts');
      shell.exitCode = await listIntegrations(account, options, shell);
    });
  integration
    .command('show')
    .description('show an integration and its remaining allowance')
    .argument('<client-id>')
    .action(async (clientId: string, options: JsonOption) => {
      const { showIntegration } = await import('./integration.ts');
      shell.exitCode = await showIntegration(clientId, options, shell);
    });
  integration
    .command('set')
    .description('change settings that aren’t in the manifest')
    .argument('<client-id>')
    .option('--disabled <yes|no>', 'reject the integration and its tokens')
    .option('--pkce <required|optional>', 'whether the code grant must use PKCE')
    .option('--allowance <number>', 'initial token requests per user and hour')
    .action(async (clientId: string, options: IntegrationOptions) => {
      const { setIntegration } = await import('./integration.ts');
      shell.exitCode = await setIntegration(clientId, options, shell);
    });
  integration
    .command('rotate-secret')
    .description('create a new client secret and print it once')
    .argument('<client-id>')
    .option('--overlap <time>', 'how long the old secret keeps working: 30m, 24h, 7d or 0', '24h')
    .action(async (clientId: string, options: RotateSecretOptions) => {
      const { rotateClientSecretCommand: rotateSecret } = await import('./integration.ts');
      shell.exitCode = await rotateSecret(clientId, options, shell);
    });
  const user = program
    .command('user')
    .description('list, add and invite users, and help them sign in again');
  user
    .command('list')
    .description('list the users of an account and its open invitations, or all users')
    .argument('[account]')
    .action(async (account: string | undefined, options: JsonOption) => {
      const { listUsers } = await import('./user.ts');
      shell.exitCode = await listUsers(account, options, shell);
    });
  user
    .command('add')
    .description('add a user to an account; a new one gets a link to set a password')
    .argument('<account>')
    .argument('<email>')
    .requiredOption('--role <role>', `role in the account: ${roles.join(', ')}`)
    .option('--name <name>', 'name of a new user; default: the email address')
    .action(async (account: string, email: string, options: AddUserOptions) => {
      const { addUser } = await import('./add-user.ts');
      shell.exitCode = await addUser(account, email, options, shell);
    });
  user
    .command('invite')
    .description('email an invitation to an account; repeat it to send a new link')
    .argument('<account>')
    .argument('<email>')
    .requiredOption('--role <role>', `role in the account: ${roles.join(', ')}`)
    .option('--name <name>', 'name of a new user, who can change it')
    .option('--by <email>', 'owner who invites; default: the first owner')
    .action(async (account: string, email: string, options: InviteOptions) => {
      const { inviteToAccount } = await import('./add-user.ts');
      shell.exitCode = await inviteToAccount(account, email, options, shell);
    });
  for (const [action, description] of Object.entries(userActions)) {
    const command = user.command(action).description(description).argument('<email>');
    if (action === 'disable')
      command.option(
        '--keys-to <email>',
        'owner who takes over the user’s API keys; without it, the keys are revoked',
      );
    command.action(async (email: string, options: UserOptions) => {
      const { userCommand } = await import('./user.ts');
      shell.exitCode = await userCommand(action as UserActionName, email, options, shell);
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
    .option('--limit <number>', 'max number of events', '100')
    // The name before 0.2.0.
    .addOption(new Option('--most <number>').hideHelp())
    .action(async (options: AuditOptions) => {
      const { auditCommand } = await import('./audit.ts');
      shell.exitCode = await auditCommand(options, shell);
    });
}
