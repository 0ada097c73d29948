import type { Command } from 'commander';
import type { CommandRunner } from './command-runner.ts';

/** Adds `domain …`, `source …` and `destination …`: sending domains, source addresses and the rates of destinations. */
export function addDirectCommands(program: Command, run: CommandRunner): void {
  addDomainCommands(program, run);
  addSourceCommands(program, run);
  const destination = program
    .command('destination')
    .description('show and override the learned rates of destinations');
  destination
    .command('list')
    .description('list known destinations: rate, connections, messages per connection, last reply')
    .action(run(async () => (await import('./destination.ts')).listDestinations));
  destination
    .command('set')
    .description('set the limits of a destination; omitted values are learned')
    .argument('<name>')
    .option('--rate <number>', 'messages per second, across all nodes')
    .option('--connections <number>', 'connections, across all nodes')
    .option('--messages-per-connection <number>', 'messages per connection')
    .option('--learn', 'return to the learned values')
    .action(run(async () => (await import('./destination.ts')).setDestination));
  destination
    .command('tls [domain]')
    .description('show TLS results by day (UTC), for all domains or one')
    .option('--days <number>', 'number of days, including today', '7')
    .action(run(async () => (await import('./tls-results.ts')).listTlsResultsCommand));
}

function addSourceCommands(program: Command, run: CommandRunner): void {
  const source = program.command('source').description('list source addresses and warm them up');
  source
    .command('list')
    .description('list the addresses of DIRECT_SOURCES: pool, name, warm-up plan, used today')
    .action(run(async () => (await import('./source.ts')).listSources));
  source
    .command('warm-up <address>')
    .description('start a warm-up plan: 50 recipients a day, doubling every two days')
    .option('--goal <number>', 'daily volume at which the plan ends')
    .option('--off', 'end the plan')
    .action(run(async () => (await import('./source.ts')).warmUpSource));
}

function addDomainCommands(program: Command, run: CommandRunner): void {
  const domain = program.command('domain').description('set up the sending domains of an account');
  domain
    .command('list <account>')
    .description('list the domains of an account and their state')
    .action(run(async () => (await import('./domain.ts')).listDomainsCommand));
  const actions = [
    ['show', 'show the DNS records to publish and the ones found'],
    ['check', 'check the DNS records now'],
    ['rotate', 'create new DKIM keys, which take over once published'],
    ['remove', 'remove a domain and its keys'],
  ] as const;
  for (const [name, description] of actions) {
    domain
      .command(`${name} <account> <domain>`)
      .description(description)
      .action(run(async () => (await import('./domain.ts')).domainCommand.bind(null, name)));
  }
  domain
    .command('add <account> <domain>')
    .description('add a domain with new DKIM keys, and print the DNS records to publish')
    .option('--ed25519', 'also create an Ed25519 key')
    .option('--return-path <label>', 'label of the host that receives bounces', 'bounces')
    .action(run(async () => (await import('./domain.ts')).addDomainCommand));
  domain
    .command('warm-up <account> <domain>')
    .description('start a warm-up plan: 50 recipients a day, doubling every two days')
    .option('--goal <number>', 'daily volume at which the plan ends')
    .option('--off', 'end the plan')
    .action(run(async () => (await import('./domain.ts')).warmUpCommand));
  domain
    .command('pool <account> <domain> <pool>')
    .description('send mail of a domain from the source addresses of a pool')
    .action(run(async () => (await import('./domain.ts')).poolCommand));
  domain
    .command('tracking <account> <domain> [host]')
    .description('use a host of the domain for tracked links, such as links.shop.example')
    .option('--off', 'use PUBLIC_URL again')
    .action(run(async () => (await import('./domain.ts')).trackingCommand));
}
