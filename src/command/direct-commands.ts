import type { Command } from 'commander';
import type { AddDomainOptions, TrackingOptions } from './domain.ts';
import type { CommandShell, JsonOption } from './shell.ts';
import type { WarmUpOptions } from './source.ts';
import type { TlsResultOptions } from './tls-results.ts';

/** Adds `domain …`, `source …` and `destination …`: sending domains, source addresses and the rates of destinations. */
export function addDirectCommands(program: Command, shell: CommandShell): void {
  addDomainCommands(program, shell);
  addSourceCommands(program, shell);
  const destination = program
    .command('destination')
    .description('show and override the learned rates of destinations');
  destination
    .command('list')
    .description('list known destinations: rate, connections, messages per connection, last reply')
    .action(async (options: JsonOption) => {
      const { listDestinations } = await import('./destination.ts');
      shell.exitCode = await listDestinations(options, shell);
    });
  destination
    .command('set')
    .description('set the limits of a destination; omitted values are learned')
    .argument('<name>')
    .option('--rate <number>', 'messages per second, across all nodes')
    .option('--connections <number>', 'connections, across all nodes')
    .option('--messages-per-connection <number>', 'messages per connection')
    .option('--learn', 'return to the learned values')
    .action(async (name: string, options: Record<string, string | boolean>) => {
      const { setDestination } = await import('./destination.ts');
      shell.exitCode = await setDestination(name, options, shell);
    });
  destination
    .command('tls [domain]')
    .description('show TLS results by day (UTC), for all domains or one')
    .option('--days <number>', 'number of days, including today', '7')
    .action(async (domain: string | undefined, options: TlsResultOptions) => {
      const { listTlsResultsCommand: listTlsResults } = await import('./tls-results.ts');
      shell.exitCode = await listTlsResults(domain, options, shell);
    });
}

function addSourceCommands(program: Command, shell: CommandShell): void {
  const source = program.command('source').description('list source addresses and warm them up');
  source
    .command('list')
    .description('list the addresses of DIRECT_SOURCES: pool, name, warm-up plan, used today')
    .action(async (options: JsonOption) => {
      const { listSources } = await import('./source.ts');
      shell.exitCode = await listSources(options, shell);
    });
  source
    .command('warm-up <address>')
    .description('start a warm-up plan: 50 recipients a day, doubling every two days')
    .option('--goal <number>', 'daily volume at which the plan ends')
    .option('--off', 'end the plan')
    .action(async (address: string, options: WarmUpOptions & JsonOption) => {
      const { warmUpSource } = await import('./source.ts');
      shell.exitCode = await warmUpSource(address, options, shell);
    });
}

function addDomainCommands(program: Command, shell: CommandShell): void {
  const domain = program.command('domain').description('set up the sending domains of an account');
  const actions = [
    ['list', 'list the domains of an account and their state', '<account>'],
    ['show', 'show the DNS records to publish and the ones found', '<account> <domain>'],
    ['check', 'check the DNS records now', '<account> <domain>'],
    ['rotate', 'create new DKIM keys, which take over once published', '<account> <domain>'],
    ['remove', 'remove a domain and its keys', '<account> <domain>'],
  ] as const;
  for (const [name, description, args] of actions) {
    domain
      .command(`${name} ${args}`)
      .description(description)
      .action(async (account: string, ...rest: unknown[]) => {
        const { domainCommand } = await import('./domain.ts');
        const domainName = args === '<account>' ? '' : String(rest.shift());
        shell.exitCode = await domainCommand(
          name,
          account,
          domainName,
          rest[0] as JsonOption,
          shell,
        );
      });
  }
  domain
    .command('add <account> <domain>')
    .description('add a domain with new DKIM keys, and print the DNS records to publish')
    .option('--ed25519', 'also create an Ed25519 key')
    .option('--return-path <label>', 'label of the host that receives bounces', 'bounces')
    .action(async (account: string, name: string, options: AddDomainOptions) => {
      const { addDomainCommand } = await import('./domain.ts');
      shell.exitCode = await addDomainCommand(account, name, options, shell);
    });
  domain
    .command('warm-up <account> <domain>')
    .description('start a warm-up plan: 50 recipients a day, doubling every two days')
    .option('--goal <number>', 'daily volume at which the plan ends')
    .option('--off', 'end the plan')
    .action(async (account: string, name: string, options: WarmUpOptions & JsonOption) => {
      const { warmUpCommand } = await import('./domain.ts');
      shell.exitCode = await warmUpCommand(account, name, options, shell);
    });
  domain
    .command('pool <account> <domain> <pool>')
    .description('send mail of a domain from the source addresses of a pool')
    .action(async (account: string, name: string, pool: string, options: JsonOption) => {
      const { poolCommand } = await import('./domain.ts');
      shell.exitCode = await poolCommand(account, name, pool, options, shell);
    });
  domain
    .command('tracking <account> <domain> [host]')
    .description('use a host of the domain for tracked links, such as links.shop.example')
    .option('--off', 'use PUBLIC_URL again')
    .action(
      async (account: string, name: string, host: string | undefined, options: TrackingOptions) => {
        const { trackingCommand } = await import('./domain.ts');
        shell.exitCode = await trackingCommand(account, name, host, options, shell);
      },
    );
}
