import { type Command, Option } from 'commander';
import { roles } from '../../accounts/account/account.ts';
import type { CommandRunner } from './command-runner.ts';
import { type UserActionName, userActions } from './user-actions.ts';

/** Adds `integration …`, `user …` and `audit`: integrations and sign-ins, for operators. */
export function addSessionCommands(program: Command, run: CommandRunner): void {
  const integration = program.command('integration').description('list and change integrations');
  integration
    .command('list')
    .description('list the integrations of an account, or all')
    .argument('[account]')
    .action(run(async () => (await import('./integration.ts')).listIntegrationsCommand));
  integration
    .command('show')
    .description('show an integration and its remaining allowance')
    .argument('<client-id>')
    .action(run(async () => (await import('./integration.ts')).showIntegration));
  integration
    .command('set')
    .description('change settings that aren’t in the manifest')
    .argument('<client-id>')
    .option('--disabled <yes|no>', 'reject the integration and its tokens')
    .option('--pkce <required|optional>', 'whether the code grant must use PKCE')
    .option('--allowance <number>', 'initial token requests per user and hour')
    .action(run(async () => (await import('./integration.ts')).setIntegration));
  integration
    .command('rotate-secret')
    .description('create a new client secret and print it once')
    .argument('<client-id>')
    .option('--overlap <time>', 'how long the old secret keeps working: 30m, 24h, 7d or 0', '24h')
    .action(run(async () => (await import('./integration.ts')).rotateClientSecretCommand));
  const user = program
    .command('user')
    .description('list, add and invite users, and help them sign in again');
  user
    .command('list')
    .description('list the users of an account and its open invitations, or all users')
    .argument('[account]')
    .action(run(async () => (await import('./user.ts')).listUsers));
  user
    .command('add')
    .description('add a user to an account; a new one gets a link to set a password')
    .argument('<account>')
    .argument('<email>')
    .requiredOption('--role <role>', `role in the account: ${roles.join(', ')}`)
    .option('--name <name>', 'name of a new user; default: the email address')
    .action(run(async () => (await import('./add-user.ts')).addUser));
  user
    .command('invite')
    .description('email an invitation to an account; repeat it to send a new link')
    .argument('<account>')
    .argument('<email>')
    .requiredOption('--role <role>', `role in the account: ${roles.join(', ')}`)
    .option('--name <name>', 'name of a new user, who can change it')
    .option('--by <email>', 'owner who invites; default: the first owner')
    .action(run(async () => (await import('./add-user.ts')).inviteToAccount));
  for (const [action, description] of Object.entries(userActions)) {
    const command = user.command(action).description(description).argument('<email>');
    if (action === 'disable')
      command.option(
        '--keys-to <email>',
        'owner who takes over the user’s API keys; without it, the keys are revoked',
      );
    command.action(
      run(async () => (await import('./user.ts')).userCommand.bind(null, action as UserActionName)),
    );
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
    .action(run(async () => (await import('./audit.ts')).auditCommand));
}
