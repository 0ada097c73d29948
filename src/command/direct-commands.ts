import type { Command } from 'commander';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Adds `domain …`, `source …` and `destination …`: sending domains, source addresses, and rate limits per
 * destination.
 */
export function addDirectCommands(
  program: Command,
  environment: Environment,
  done: (exitCode: number) => void,
): void {
  addDomainCommands(program, environment, done);
  addSourceCommands(program, environment, done);
  const destination = program
    .command('destination')
    .description(
      'shows and overrides learned rate limits per destination, even while the service runs',
    );
  destination
    .command('list')
    .description('lists all destinations: rate, connections, messages per connection, last reply')
    .action(async () => {
      const { listDestinations } = await import('./destination.ts');
      done(await listDestinations(environment));
    });
  destination
    .command('set')
    .description('sets the limits of a destination; limits that you don’t give are learned')
    .argument('<name>')
    .option('--rate <number>', 'messages per second, all nodes together')
    .option('--connections <number>', 'connections, all nodes together')
    .option('--messages-per-connection <number>', 'messages per connection')
    .option('--learn', 'returns to learned limits')
    .action(async (name: string, options: Record<string, string | boolean>) => {
      const { setDestination } = await import('./destination.ts');
      done(await setDestination(name, options, environment));
    });
  destination
    .command('tls [domain]')
    .description('TLS results per day (UTC), for all domains or one')
    .option('--days <number>', 'number of days, including today', '7')
    .action(async (domain: string | undefined, options: { readonly days: string }) => {
      const { listTlsResultsCommand: listTlsResults } = await import('./tls-results.ts');
      done(await listTlsResults(domain, options, environment));
    });
}

function addSourceCommands(
  program: Command,
  environment: Environment,
  done: (exitCode: number) => void,
): void {
  const source = program.command('source').description('shows and warms up source addresses');
  source
    .command('list')
    .description('lists the addresses in DIRECT_SOURCES: pool, name, warm-up plan, used today')
    .action(async () => {
      const { listSources } = await import('./source.ts');
      done(await listSources(environment));
    });
  source
    .command('warm-up <address>')
    .description('starts a warm-up plan: 50 messages a day at first, doubling every second day')
    .option('--goal <number>', 'messages per day at which the plan ends')
    .option('--off', 'ends the plan')
    .action(
      async (address: string, options: { readonly goal?: string; readonly off?: boolean }) => {
        const { warmUpSource } = await import('./source.ts');
        done(await warmUpSource(address, options, environment));
      },
    );
}

function addDomainCommands(
  program: Command,
  environment: Environment,
  done: (exitCode: number) => void,
): void {
  const domain = program
    .command('domain')
    .description('manages the sending domains of an account, even while the service runs');
  const plain = [
    ['list', 'lists the domains of an account and their state', '<account>'],
    ['show', 'shows the records to publish and what was found', '<account> <domain>'],
    ['check', 'checks the records now', '<account> <domain>'],
    ['rotate', 'creates new DKIM keys, which take over once published', '<account> <domain>'],
    ['remove', 'removes a domain and its keys', '<account> <domain>'],
  ] as const;
  for (const [name, description, places] of plain) {
    domain
      .command(`${name} ${places}`)
      .description(description)
      .action(async (account: string, domainName: string) => {
        const { domainCommand } = await import('./domain.ts');
        const given = places === '<account>' ? '' : domainName;
        done(await domainCommand(name, account, given, environment));
      });
  }
  domain
    .command('add <account> <domain>')
    .description('adds a domain with its own DKIM keys and prints the records to publish')
    .option('--ed25519', 'adds an Ed25519 key besides the RSA key')
    .option('--return-path <label>', 'label of the return-path host', 'bounces')
    .action(
      async (
        account: string,
        name: string,
        options: { readonly ed25519?: boolean; readonly returnPath: string },
      ) => {
        const { addDomainCommand } = await import('./domain.ts');
        done(await addDomainCommand(account, name, options, environment));
      },
    );
  domain
    .command('warm-up <account> <domain>')
    .description('starts a warm-up plan: 50 messages a day at first, doubling every second day')
    .option('--goal <number>', 'messages per day at which the plan ends')
    .option('--off', 'ends the plan')
    .action(
      async (
        account: string,
        name: string,
        options: { readonly goal?: string; readonly off?: boolean },
      ) => {
        const { warmUpCommand } = await import('./domain.ts');
        done(await warmUpCommand(account, name, options, environment));
      },
    );
  domain
    .command('pool <account> <domain> <pool>')
    .description('sends the domain’s mail from the source addresses of a pool')
    .action(async (account: string, name: string, pool: string) => {
      const { poolCommand } = await import('./domain.ts');
      done(await poolCommand(account, name, pool, environment));
    });
  domain
    .command('tracking <account> <domain> [host]')
    .description('uses a host of the domain, such as links.shop.example, in tracked links')
    .option('--off', 'uses PUBLIC_URL in tracked links again')
    .action(
      async (
        account: string,
        name: string,
        host: string | undefined,
        options: { readonly off?: boolean },
      ) => {
        const { trackingCommand } = await import('./domain.ts');
        done(await trackingCommand(account, name, host, options, environment));
      },
    );
}
