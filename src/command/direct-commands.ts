import type { Command } from 'commander';

type Environment = Readonly<Record<string, string | undefined>>;

/** Adds `domain …`, `source …` and `destination …`: sending domains, source addresses, and the pace of those who receive. */
export function addDirectCommands(
  program: Command,
  environment: Environment,
  done: (exitCode: number) => void,
): void {
  addDomainCommands(program, environment, done);
  addSourceCommands(program, environment, done);
  const destination = program
    .command('destination')
    .description('shows and overrides the learnt pace of receivers, also while the service runs');
  destination
    .command('list')
    .description(
      'every receiver known: pace, connections, messages per connection, what it said last',
    )
    .action(async () => {
      const { listDestinations } = await import('./destination.ts');
      done(await listDestinations(environment));
    });
  destination
    .command('set')
    .description('fixes the pace of a receiver; what is not given is learnt')
    .argument('<name>')
    .option('--rate <number>', 'messages per second of all nodes together')
    .option('--connections <number>', 'connections of all nodes together')
    .option('--messages-per-connection <number>', 'messages that a connection carries')
    .option('--learn', 'goes back to what was learnt')
    .action(async (name: string, options: Record<string, string | boolean>) => {
      const { setDestination } = await import('./destination.ts');
      done(await setDestination(name, options, environment));
    });
  destination
    .command('tls [domain]')
    .description('how TLS went with the servers of all domains or of one, by day in UTC')
    .option('--days <number>', 'how many days back, today included', '7')
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
  const source = program
    .command('source')
    .description('shows the addresses that mail leaves from, and warms them up');
  source
    .command('list')
    .description('every address of DIRECT_SOURCES: pool, name, warm-up plan, used today')
    .action(async () => {
      const { listSources } = await import('./source.ts');
      done(await listSources(environment));
    });
  source
    .command('warm-up <address>')
    .description('begins a warm-up plan: 50 messages a day at first, doubling every second day')
    .option('--goal <number>', 'messages a day at which the plan ends')
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
    .description('sets up the domains that an account sends from, also while the service runs');
  const plain = [
    ['list', 'the domains of an account and how far they are set up', '<account>'],
    ['show', 'the records to publish, and what was found', '<account> <domain>'],
    ['check', 'looks the records up now', '<account> <domain>'],
    ['rotate', 'makes new DKIM keys, which take over once published', '<account> <domain>'],
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
    .description('adds a domain with DKIM keys of its own and prints the records to publish')
    .option('--ed25519', 'an Ed25519 key beside the RSA one')
    .option('--return-path <label>', 'label of the host that bounces come back to', 'bounces')
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
    .description('begins a warm-up plan: 50 messages a day at first, doubling every second day')
    .option('--goal <number>', 'messages a day at which the plan ends')
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
    .description('sends the mail of a domain from the source addresses of a pool')
    .action(async (account: string, name: string, pool: string) => {
      const { poolCommand } = await import('./domain.ts');
      done(await poolCommand(account, name, pool, environment));
    });
  domain
    .command('tracking <account> <domain> [host]')
    .description('lets tracked links carry a host of the domain, such as links.shop.example')
    .option('--off', 'lets them carry PUBLIC_URL again')
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
