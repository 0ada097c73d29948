import { type Command, InvalidArgumentError, Option } from 'commander';
import { roles } from '../../accounts/account/account.ts';
import { nodeRoles } from '../../base/threads/node-role.ts';
import { defaultRowsPerSecond, maxRowsPerSecond } from '../../outbox/source/source-schemas.ts';
import { maxDemoMessages } from '../demo-data/demo-limits.ts';
import { commandRunner, commandsOf, groupsOf } from './command-runner.ts';
import type { CommandShell } from './shell.ts';

/** Adds all commands with their arguments and options. */
export function addCommands(program: Command, shell: CommandShell): void {
  addServiceCommands(program, shell);
  addDatabaseCommands(program, shell);
  addDeliveryCommands(program, shell);
  addAccessCommands(program, shell);
  addTemplateCommands(program, shell);
  const run = commandRunner(shell);
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .argument('<shell>', 'bash, zsh or fish')
    .addHelpText('after', '\nFor example, in ~/.bashrc: source <(signalpost completion bash)')
    .action(run(async () => (await import('./completion.ts')).printCompletion.bind(null, program)));
}

function readNumber(max: number, digits: RegExp): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (digits.test(text) && count >= 1 && count <= max) return count;
    throw new InvalidArgumentError(`It must be a number from 1 to ${max}.`);
  };
}

/** How an account or message was named before it became an argument, and other names of earlier releases. */
function formerOption(flags: string): Option {
  return new Option(flags).hideHelp();
}

function gather(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function addServiceCommands(program: Command, shell: CommandShell): void {
  const group = groupsOf(program, shell);
  const run = commandRunner(shell);
  program
    .command('start')
    .description(
      'run the whole service in one process, with an embedded database unless DATABASE_URL is set; the default command',
    )
    .action(run(async () => (await import('./start.ts')).start));
  program
    .command('serve')
    .description('run one of several nodes on your own database (DATABASE_URL)')
    .option('--role <roles>', 'roles of this node, separated by a comma', nodeRoles.join(','))
    .option(
      '--processes <count>',
      'number of processes that share the port and the work',
      readNumber(999, /^\d{1,3}$/),
    )
    .addHelpText('after', '\nWithout --processes, one process per core.')
    .action(run(async () => (await import('./serve.ts')).serve));
  program
    .command('migrate')
    .description('migrate the database to this release; every start does this too')
    .option('--plan', 'list migrations and required manual changes without applying anything')
    .action(run(async () => (await import('./migrate.ts')).migrateCommand));
  const queue = group(
    'queue',
    'list, pause, resume, cancel and retry queued messages',
    async () => (await import('./queue.ts')).queueCommands,
  );
  const ofMessages = (command: Command): Command =>
    command
      .usage('<account> [message] [options]')
      .argument('[account]', 'the account')
      .argument('[message]', 'only this message')
      .addOption(formerOption('--account <id>'))
      .addOption(formerOption('--message <id>'));
  ofMessages(queue('list', 'list queued messages by destination, with next attempt and reason'));
  for (const command of [
    queue('pause', 'pause a message, or all queued and future ones'),
    queue('resume', 'resume a message, or all paused ones'),
    queue('cancel', 'cancel a message, or all queued ones, permanently'),
    queue('retry', 'retry a message, or all of them, now; includes failed and held ones'),
  ])
    ofMessages(command).option('--destination <domain>', 'only messages to this domain');
  group(
    'report',
    'rebuild reports',
    async () => (await import('./report.ts')).reportCommands,
  )(
    'reclassify',
    'reclassify past opens and clicks with the programs and networks that this release knows',
  )
    .usage('<account> [options]')
    .argument('[account]', 'the account')
    .addOption(formerOption('--account <id>'))
    .requiredOption('--from <day>', 'first day (UTC), such as 2026-11-22');
  program
    .command('apply')
    .description('create and update the resources in a manifest; safe to repeat')
    .argument('<file>', 'manifest in YAML or JSON; - for standard input')
    .option('--prune', 'also remove resources that aren’t in the manifest, within its accounts')
    .option('--dry-run', 'show the changes without applying them')
    .addHelpText(
      'after',
      '\nStrings can refer to environment variables, so that secrets stay out of the file.',
    )
    .action(run(async () => (await import('./apply.ts')).applyCommand));
  program
    .command('export')
    .description('write a manifest that recreates this installation')
    .argument(
      '[folder]',
      'target folder, also for contact lists; default: standard output, without contacts',
    )
    .action(run(async () => (await import('./export.ts')).exportCommand));
  program
    .command('doctor')
    .description('check the database, key, mail connection, clock and disk, and suggest fixes')
    .option('--production', 'also check what production needs')
    .action(run(async () => (await import('./doctor.ts')).doctor));
}

const targetHelp = 'a folder or s3://bucket/prefix; by default BACKUP_TO';
const identityHelp = 'file with the private key, from `backup create-key`';
const toHelp = 'restore to this time, such as 2026-11-26T04:30:00Z, instead of the latest';

function addDatabaseCommands(program: Command, shell: CommandShell): void {
  const group = groupsOf(program, shell);
  const backups = program
    .command('backup')
    .description('back up the embedded database and the key, encrypted, while the service runs');
  const load = async () => (await import('./backup.ts')).backupCommands;
  const backup = commandsOf(backups, shell, load);
  backup('create', 'back up now; the command name may be omitted: backup /mnt/backup', {
    isDefault: true,
  }).argument('[target]', targetHelp);
  backup('list', 'list the complete backups').argument('[target]', targetHelp);
  backup('verify', 'restore the latest backup into a temporary folder and read everything in it')
    .argument('[target]', targetHelp)
    .requiredOption('--identity <file>', identityHelp)
    .option('--to <time>', toHelp)
    .option('--scratch <folder>', 'where to create the temporary folder; by default TMPDIR');
  backup(
    'create-key',
    'create a key pair for backups; keep the file away from this machine',
  ).argument('<file>', 'new file for the private key');
  const treatments = new Option(
    '--queue <action>',
    'messages that were queued then and may have been sent since: hold them for review, send them again, or cancel them',
  );
  commandsOf(
    program,
    shell,
    load,
  )('restore', 'restore a backup into DATA_DIR, which must be empty')
    .argument('[target]', targetHelp)
    .requiredOption('--identity <file>', identityHelp)
    .option('--to <time>', toHelp)
    .addOption(treatments.choices(['hold', 'resend', 'drop']).default('hold'));
  program
    .command('move')
    .description('move the stopped installation to another PostgreSQL')
    .option('--to <url>', 'the other database: postgres://user:password@host:5432/name')
    .option('--cancel', 'stay with this database, or go back to it')
    .option('--yes', 'with --cancel: go back although the installation runs on the other database')
    .addHelpText('after', '\nAfter an interruption, run it again; it continues.')
    .action(commandRunner(shell)(async () => (await import('./move.ts')).moveCommand));
  const demo = group(
    'demo',
    'fill a demo account with generated messages',
    async () => (await import('./demo.ts')).demoCommands,
  );
  demo('fill', 'add the account demo with 30 days of messages; nothing is sent').option(
    '--messages <number>',
    'number of messages',
    readNumber(maxDemoMessages, /^\d{1,6}$/),
    12_000,
  );
  demo('clear', 'remove the account demo and everything in it');
}

/** Sending domains, source addresses and the rates of destinations. */
function addDeliveryCommands(program: Command, shell: CommandShell): void {
  const group = groupsOf(program, shell);
  const domain = group(
    'domain',
    'set up the sending domains of an account',
    async () => (await import('./domain.ts')).domainCommands,
  );
  const warmUp = 'start a warm-up plan: 50 recipients a day, doubling every two days';
  domain('list <account>', 'list the domains of an account and their state');
  domain('show <account> <domain>', 'show the DNS records to publish and the ones found');
  domain('check <account> <domain>', 'check the DNS records now');
  domain('rotate <account> <domain>', 'create new DKIM keys, which take over once published');
  domain('remove <account> <domain>', 'remove a domain and its keys');
  domain(
    'add <account> <domain>',
    'add a domain with new DKIM keys, and print the DNS records to publish',
  )
    .option('--ed25519', 'also create an Ed25519 key')
    .option('--return-path <label>', 'label of the host that receives bounces', 'bounces');
  domain('warm-up <account> <domain>', warmUp)
    .option('--goal <number>', 'daily volume at which the plan ends')
    .option('--off', 'end the plan');
  domain(
    'pool <account> <domain> <pool>',
    'send mail of a domain from the source addresses of a pool',
  );
  domain(
    'tracking <account> <domain> [host]',
    'use a host of the domain for tracked links, such as links.shop.example',
  ).option('--off', 'use PUBLIC_URL again');
  const source = group(
    'source',
    'list source addresses and warm them up',
    async () => (await import('./source.ts')).sourceCommands,
  );
  source('list', 'list the addresses of DIRECT_SOURCES: pool, name, warm-up plan, used today');
  source('warm-up <address>', warmUp)
    .option('--goal <number>', 'daily volume at which the plan ends')
    .option('--off', 'end the plan');
  const destination = group(
    'destination',
    'show and override the learned rates of destinations',
    async () => (await import('./destination.ts')).destinationCommands,
  );
  destination(
    'list',
    'list known destinations: rate, connections, messages per connection, last reply',
  );
  destination('set <name>', 'set the limits of a destination; omitted values are learned')
    .option('--rate <number>', 'messages per second, across all nodes')
    .option('--connections <number>', 'connections, across all nodes')
    .option('--messages-per-connection <number>', 'messages per connection')
    .option('--learn', 'return to the learned values');
  destination('tls [domain]', 'show TLS results by day (UTC), for all domains or one').option(
    '--days <number>',
    'number of days, including today',
    '7',
  );
}

/** First access, operators, integrations, users and keys. */
function addAccessCommands(program: Command, shell: CommandShell): void {
  const group = groupsOf(program, shell);
  const run = commandRunner(shell);
  const link = commandsOf(
    program,
    shell,
    async () => (await import('./print-link.ts')).linkCommands,
  );
  link('set-up-link', 'print a link that creates the first owner; it works once, within a day');
  link('inbox-link', 'print a link that opens the inbox in a browser; it works once, within a day');
  const operator = group(
    'operator',
    'list, add and remove operators, who run the whole installation',
    async () => (await import('./operator.ts')).operatorCommands,
  );
  operator('list', 'list operators by email address');
  operator('add <email>', 'make a user an operator');
  operator('remove <email>', 'remove a user’s operator role');
  const integration = group(
    'integration',
    'list and change integrations',
    async () => (await import('./integration.ts')).integrationCommands,
  );
  integration('list [account]', 'list the integrations of an account, or all');
  integration('show <client-id>', 'show an integration and its remaining allowance');
  integration('set <client-id>', 'change settings that aren’t in the manifest')
    .option('--disabled <yes|no>', 'reject the integration and its tokens')
    .option('--pkce <required|optional>', 'whether the code grant must use PKCE')
    .option('--allowance <number>', 'initial token requests per user and hour');
  integration('rotate-secret <client-id>', 'create a new client secret and print it once').option(
    '--overlap <time>',
    'how long the old secret keeps working: 30m, 24h, 7d or 0',
    '24h',
  );
  const outbox = group(
    'outbox',
    'send the rows that an application inserts in its own database',
    async () => (await import('./outbox.ts')).outboxCommands,
  );
  outbox('list <account>', 'list the outboxes of an account, with lag and last failure');
  outbox(
    'add <account> <source>',
    'add an outbox, or change it; reads its postgres:// or mysql:// URL from standard input',
  )
    .requiredOption('--table <name>', 'the table, such as email_outbox or shop.email_outbox')
    .option('--answers <name>', 'a second table that gets the answers')
    .addOption(
      new Option('--after <what>', 'what happens to a row once its message is accepted')
        .choices(['keep', 'delete'])
        .default('keep'),
    )
    .option(
      '--rate <number>',
      'max rows sent per second',
      readNumber(maxRowsPerSecond, /^\d{1,4}$/),
      defaultRowsPerSecond,
    );
  outbox('retry <account> <source> [rows...]', 'send rows again that failed: all, or some by ID');
  outbox('remove <account> <source>', 'remove an outbox; its table stays');
  outbox(
    'schema [account]',
    'print the SQL of a table; with an account, also the constraints that its templates need',
  )
    .addOption(
      new Option('--dialect <name>', 'dialect of SQL')
        .choices(['postgres', 'mysql'])
        .default('postgres'),
    )
    .option('--table <name>', 'name of the table', 'email_outbox')
    .option('--answers <name>', 'a second table that gets the answers')
    .option(
      '--check <source>',
      'instead, print what makes the constraints of a source’s table fit; exit with 1 if they don’t',
    );
  const users = program
    .command('user')
    .description('list, add and invite users, and help them sign in again');
  const user = commandsOf(users, shell, async () => (await import('./user.ts')).userCommands);
  const newUser = commandsOf(
    users,
    shell,
    async () => (await import('./add-user.ts')).newUserCommands,
  );
  const roleHelp = `role in the account: ${roles.join(', ')}`;
  user('list [account]', 'list the users of an account and its open invitations, or all users');
  newUser(
    'add <account> <email>',
    'add a user to an account; a new one gets a link to set a password',
  )
    .requiredOption('--role <role>', roleHelp)
    .option('--name <name>', 'name of a new user; default: the email address');
  newUser(
    'invite <account> <email>',
    'email an invitation to an account; repeat it to send a new link',
  )
    .requiredOption('--role <role>', roleHelp)
    .option('--name <name>', 'name of a new user, who can change it')
    .option('--by <email>', 'owner who invites; default: the first owner');
  user(
    'disable <email>',
    'disable a user and revoke their sessions, tokens and API keys on every node',
  ).option(
    '--keys-to <email>',
    'owner who takes over the user’s API keys; without it, the keys are revoked',
  );
  user('enable <email>', 'enable a disabled user');
  user('password-link <email>', 'print a link to set a password; it works once, within 30 minutes');
  user(
    'remove-second-factor <email>',
    'remove the authenticator app and passkeys of a user who lost them and the recovery codes',
  );
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
    .addOption(formerOption('--most <number>'))
    .action(run(async () => (await import('./audit.ts')).audit));
  const keys = program
    .command('key')
    .description('create, list, rotate and revoke API keys, and rotate the master key');
  const key = commandsOf(keys, shell, async () => (await import('./api-key.ts')).keyCommands);
  key('create <account>', 'create an API key and print it once')
    .requiredOption('--name <name>', 'what the key is for')
    .option('--scope <scope>', 'permission, such as messages:send; repeatable', gather)
    .option(
      '--for <provider>',
      'API that it is for, such as resend: prints the environment variables of its SDK; --scope can be omitted',
    )
    .option('--test', 'create a test key: its messages go to the account’s inbox only')
    .option('--expires-in-days <number>', 'days until it expires; default: never')
    .option('--network <cidr>', 'network that requests must come from; repeatable', gather)
    .option('--template <id>', 'template that it may send with; repeatable', gather);
  key('list <account>', 'list the API keys of an account, newest first, without their secrets');
  key('rotate <account>', 'replace an API key and print the new one; both work for a while')
    .argument('<id>', 'ID shown by `key list`')
    .option('--overlap-hours <number>', 'how long the old key keeps working, 0 to 720', '24');
  key('revoke <account>', 'revoke an API key, on every node within a second').argument(
    '<id>',
    'ID shown by `key list`',
  );
  keys
    .command('rotate-master')
    .description('rotate the master key; repeat until it reports that it’s done')
    .option('--finish', 'list what depends on the previous key')
    .option('--yes', 'with --finish: remove the previous key')
    .addHelpText('after', '\nFor the steps, see docs/operate/harden.md.')
    .action(run(async () => (await import('./rotate-master.ts')).rotateMaster));
}

const urlHelp = 'running service, with an API key in SIGNALPOST_API_KEY';

/** What calls a running service with an API key. */
function addTemplateCommands(program: Command, shell: CommandShell): void {
  const group = groupsOf(program, shell);
  const run = commandRunner(shell);
  program
    .command('types')
    .description('write TypeScript types of published templates for signalpost-client')
    .option('--url <url>', `${urlHelp} (templates:read)`)
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
    .option('--url <url>', urlHelp)
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
    .option('--url <url>', urlHelp)
    .action(run(async () => (await import('./import.ts')).runImport));
  const templates = group(
    'template',
    'keep templates as files: pull, push and compare them through the API',
    async () => (await import('./template/sync-templates.ts')).templateCommands,
  );
  const template = (...named: Parameters<typeof templates>): Command =>
    templates(...named)
      .argument('[templates...]', 'their IDs; default: all')
      .requiredOption('--dir <folder>', 'folder with a subfolder for each template')
      .option('--url <url>', urlHelp);
  template('pull', 'write the templates of an account into a folder').option(
    '--force',
    'overwrite local changes in the folder',
  );
  template('push', 'save the templates of a folder as drafts')
    .option('--react <files...>', 'React Email components to compile into the folder first')
    .option('--publish', 'publish them')
    .option('--base <folder>', 'an earlier state of the folder, whose content may be overwritten')
    .option('--force', 'overwrite changes made on the service')
    .option('--allow-breaking', 'publish even if recent callers would be rejected');
  template('diff', 'show what a push would change').option(
    '--exit-code',
    'exit with 1 if there are changes',
  );
  program
    .command('send-test')
    .description('send a template with its sample values through the running service, and wait')
    .argument('<account>')
    .argument('<template>')
    .argument('<to>', 'the recipient’s address')
    .option('--url <url>', 'the service; default: the one that runs on this machine')
    .option('--wait <seconds>', 'how long to wait for the outcome, 0 to 600', '60')
    .action(run(async () => (await import('./send-test.ts')).sendTest));
}
