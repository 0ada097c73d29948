import type { Dns } from '../foundation/dns/dns-answer.ts';

/** DNS providers by the end of their name servers' names. */
const providers = {
  azure: /\.azure-dns\.(?:com|net|org|info)$/,
  cloudflare: /\.ns\.cloudflare\.com$/,
  digitalocean: /\.digitalocean\.com$/,
  gandi: /\.gandi\.net$/,
  godaddy: /\.domaincontrol\.com$/,
  'google-cloud': /\.googledomains\.com$/,
  hetzner: /\.(?:ns\.hetzner\.(?:com|de)|second-ns\.(?:com|de)|your-server\.de)$/,
  ionos: /\.ui-dns\.(?:com|de|org|biz)$/,
  namecheap: /\.registrar-servers\.com$/,
  ovh: /\.(?:ovh|anycast\.me)(?:\.net|\.ca)?$/,
  porkbun: /\.(?:ns\.)?porkbun\.com$/,
  route53: /\.awsdns-\d+\.(?:com|net|org|co\.uk)$/,
  vercel: /\.vercel-dns\.com$/,
} as const satisfies Readonly<Record<string, RegExp>>;

/** A DNS provider with its own way to enter records. */
export type DnsProvider = keyof typeof providers;

export const dnsProviders = Object.keys(providers) as DnsProvider[];

/** The zone of a domain; both undefined if no name server was found. */
export interface FoundZone {
  readonly name: string | undefined;
  readonly provider: DnsProvider | undefined;
}

/**
 * Finds the zone that a domain's records belong to: the closest parent with name servers, or the domain itself.
 * @returns undefined if a lookup failed
 */
export async function findZone(dns: Dns, domain: string): Promise<FoundZone | undefined> {
  for (let name = domain; name.includes('.'); name = name.slice(name.indexOf('.') + 1)) {
    const answer = await dns.lookUp(name, 'NS');
    if (answer.kind === 'fault') return undefined;
    if (answer.kind === 'found') return { name, provider: providerOf(answer.records) };
  }
  return { name: undefined, provider: undefined };
}

function providerOf(servers: readonly string[]): DnsProvider | undefined {
  return dnsProviders.find((provider) =>
    servers.every((server) => providers[provider].test(server.replace(/\.$/, ''))),
  );
}
