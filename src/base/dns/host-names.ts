import type { LookupAddress } from 'node:dns';
import { open } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { Clock } from '../values/clock.ts';
import type { Dns, DnsAnswer } from './dns-client.ts';

const filesMs = 60_000;
const maxFileBytes = 1_048_576;
/** As many as resolvers use (resolv.conf(5)). */
const maxSearchDomains = 6;

/** RFC 6761 section 6.3: these names are the loopback's, whatever DNS says. */
const loopback: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** What the machine knows of names, beside DNS. */
interface MachineNames {
  readonly hosts: ReadonlyMap<string, readonly LookupAddress[]>;
  /** They complete names without a dot, such as services of a cluster. */
  readonly searchDomains: readonly string[];
}

/**
 * Resolves names of hosts that accounts choose: by the hosts file, then by DNS. The system's own lookup (getaddrinfo) would
 * occupy threads that all lookups of the process share for as long as a stranger's DNS server takes.
 */
export class HostNames {
  readonly #dns: Dns;
  readonly #clock: Clock;
  readonly #files: { readonly hosts: string; readonly resolver: string };
  #machine: Promise<MachineNames> | undefined;
  #readAt = 0;

  /** @param dns should be cached, since every request does a lookup */
  constructor(
    dns: Dns,
    clock: Clock,
    files = { hosts: '/etc/hosts', resolver: '/etc/resolv.conf' },
  ) {
    this.#dns = dns;
    this.#clock = clock;
    this.#files = files;
  }

  /** @throws Error if the name has no address, or none is found in time */
  async lookUp(hostname: string): Promise<readonly LookupAddress[]> {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    const { hosts, searchDomains } = await this.#readFiles();
    const known = hosts.get(name);
    if (known !== undefined) return known;
    if (/(?:^|\.)localhost$/.test(name)) return loopback;
    const full = name.includes('.') ? [] : searchDomains.map((domain) => `${name}.${domain}`);
    let fault: string | undefined;
    for (const candidate of [name, ...full]) {
      const answers = await Promise.all([
        this.#dns.lookUp(candidate, 'A'),
        this.#dns.lookUp(candidate, 'AAAA'),
      ]);
      const found = [...addressesOf(answers[0], 4), ...addressesOf(answers[1], 6)];
      if (found.length > 0) return found;
      for (const answer of answers) if (answer.kind === 'fault') fault ??= answer.text;
    }
    // The text doesn't name the resolver, because accounts see it.
    throw new Error(
      fault === undefined
        ? `${name} has no address in DNS`
        : `the DNS lookup of ${name} failed: ${fault}`,
    );
  }

  #readFiles(): Promise<MachineNames> {
    const now = this.#clock.monotonic();
    if (this.#machine === undefined || now - this.#readAt >= filesMs) {
      this.#readAt = now;
      this.#machine = readMachineNames(this.#files);
    }
    return this.#machine;
  }
}

async function readMachineNames(
  files: Readonly<Record<'hosts' | 'resolver', string>>,
): Promise<MachineNames> {
  const [hosts, resolver] = await Promise.all([readStart(files.hosts), readStart(files.resolver)]);
  return { hosts: parseHosts(hosts), searchDomains: parseSearchDomains(resolver) };
}

function addressesOf(answer: DnsAnswer<'A' | 'AAAA'>, family: 4 | 6): LookupAddress[] {
  return answer.kind === 'found' ? answer.records.map((address) => ({ address, family })) : [];
}

/** Empty for a file that can't be read: a machine without one has no names in it. */
async function readStart(file: string): Promise<string> {
  const handle = await open(file).catch(() => undefined);
  try {
    const read = await handle?.read({ buffer: Buffer.alloc(maxFileBytes) });
    return read?.buffer.toString('utf8', 0, read.bytesRead) ?? '';
  } catch {
    return '';
  } finally {
    await handle?.close();
  }
}

/** The domains of the last line that has any (resolv.conf(5)). */
function parseSearchDomains(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/));
  const [, ...domains] =
    lines.findLast(([keyword]) => keyword === 'search' || keyword === 'domain') ?? [];
  return domains
    .slice(0, maxSearchDomains)
    .map((domain) => domain.toLowerCase().replace(/\.$/, ''))
    .filter((domain) => domain !== '');
}

/** Lines of an address and its names (hosts(5)). */
function parseHosts(text: string): Map<string, LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      const known = hosts.get(key);
      if (known === undefined) hosts.set(key, [{ address, family }]);
      else if (!known.some((each) => each.address === address)) known.push({ address, family });
    }
  }
  return hosts;
}
