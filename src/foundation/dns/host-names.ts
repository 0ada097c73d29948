import { type LookupAddress, promises } from 'node:dns';
import { open } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { Clock } from '../clock.ts';
import type { Dns, DnsAnswer } from './dns-answer.ts';

const hostsMs = 60_000;
const maxHostsBytes = 1_048_576;
const maxMachineLookups = 100;

/** RFC 6761 section 6.3: these names are the loopback's, whatever DNS says. */
const loopback: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Resolves names of hosts that accounts choose: by the hosts file, then by DNS. The system's own lookup (getaddrinfo) would
 * occupy threads that all lookups of the process share for as long as a stranger's DNS server takes. So it is used only for
 * names without a dot, such as containers, because no stranger's server answers for those.
 */
export class HostNames {
  readonly #dns: Dns;
  readonly #clock: Clock;
  readonly #hostsFile: string;
  #hosts: Promise<ReadonlyMap<string, readonly LookupAddress[]>> | undefined;
  #hostsReadAt = 0;
  readonly #machineLookups = new Map<string, Promise<readonly LookupAddress[]>>();
  #lastMachineLookup: Promise<unknown> = Promise.resolve();

  /** @param dns should be cached, since every request does a lookup */
  constructor(dns: Dns, clock: Clock, hostsFile = '/etc/hosts') {
    this.#dns = dns;
    this.#clock = clock;
    this.#hostsFile = hostsFile;
  }

  /** @throws Error if the name has no address, or none is found in time */
  async lookUp(hostname: string): Promise<readonly LookupAddress[]> {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    const known = (await this.#readHosts()).get(name);
    if (known !== undefined) return known;
    if (/(?:^|\.)localhost$/.test(name)) return loopback;
    const [ipv4, ipv6] = await Promise.all([
      this.#dns.lookUp(name, 'A'),
      this.#dns.lookUp(name, 'AAAA'),
    ]);
    const found = [...addressesOf(ipv4, 4), ...addressesOf(ipv6, 6)];
    if (found.length > 0) return found;
    if (!name.includes('.')) return await this.#askMachine(name);
    // The text doesn't name the resolver, because accounts see it.
    const fault = [ipv4, ipv6].find(({ kind }) => kind === 'fault');
    throw new Error(
      fault?.kind === 'fault'
        ? `the DNS lookup of ${name} failed: ${fault.text}`
        : `${name} has no address in DNS`,
    );
  }

  /** One name at a time, which leaves a thread to the other lookups of the process. */
  #askMachine(name: string): Promise<readonly LookupAddress[]> {
    const pending = this.#machineLookups.get(name);
    if (pending !== undefined) return pending;
    if (this.#machineLookups.size >= maxMachineLookups)
      return Promise.reject(new Error('too many host names are being looked up'));
    const lookup = this.#lastMachineLookup
      .then(() => promises.lookup(name, { all: true }))
      .finally(() => this.#machineLookups.delete(name));
    this.#machineLookups.set(name, lookup);
    this.#lastMachineLookup = lookup.catch(() => undefined);
    return lookup;
  }

  #readHosts(): Promise<ReadonlyMap<string, readonly LookupAddress[]>> {
    const now = this.#clock.monotonic();
    if (this.#hosts === undefined || now - this.#hostsReadAt >= hostsMs) {
      this.#hostsReadAt = now;
      // A machine without a readable hosts file has no names in it.
      this.#hosts = readStart(this.#hostsFile).then(parseHosts, () => new Map());
    }
    return this.#hosts;
  }
}

function addressesOf(answer: DnsAnswer<'A' | 'AAAA'>, family: 4 | 6): LookupAddress[] {
  return answer.kind === 'found' ? answer.records.map((address) => ({ address, family })) : [];
}

async function readStart(file: string): Promise<string> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(maxHostsBytes) });
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
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
