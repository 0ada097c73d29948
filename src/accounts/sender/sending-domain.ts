import type { Dns } from '../../base/dns/dns-client.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { DkimAlgorithm } from './dkim-key.ts';

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

/**
 * `pending`: the records have never been correct. `verified`: they are correct. `broken`: they were correct, but two checks
 * in a row failed.
 */
export type DomainState = 'pending' | 'verified' | 'broken';

export interface SendingDomain {
  readonly accountId: AccountId;
  /** In A-labels. */
  readonly domain: string;
  readonly state: DomainState;
  readonly stateAt: Date;
  readonly badChecks: number;
  /** Subdomain that receives bounces. */
  readonly returnPath: string;
  /** Subdomain for tracked links, if set. */
  readonly trackingHost: string | undefined;
  readonly sourcePool: string;
  readonly warmUp: WarmUpSchedule | undefined;
  readonly checkedAt: Date | undefined;
  /** The zone that the domain's records belong to, as of the last check. */
  readonly zone: string | undefined;
  /** The zone's DNS provider, if it is a known one. */
  readonly dnsProvider: DnsProvider | undefined;
}

/** Max recipients per day, starting on a given day. */
export interface WarmUpSchedule {
  /** `2026-03-01`, in UTC. */
  readonly from: string;
  readonly plan: readonly number[];
}

/** `pending` waits for its record, `active` signs, `retired` no longer signs but is kept for mail in transit. */
export type DkimKeyState = 'pending' | 'active' | 'retired';

/** A key without its private part. */
export interface PublicDkimKey {
  readonly selector: string;
  readonly algorithm: DkimAlgorithm;
  readonly record: string;
  readonly state: DkimKeyState;
  readonly stateAt: Date;
}

export type RecordKind = 'dkim' | 'spf' | 'return-path' | 'from-spf' | 'dmarc' | 'tracking';

/** A record to publish. */
export interface DomainRecord {
  readonly kind: RecordKind;
  readonly name: string;
  readonly type: 'TXT' | 'MX' | 'CNAME';
  /** The exact value to publish. */
  readonly value: string;
  /** False for recommended records, for keys not yet in use and for retired keys. */
  readonly required: boolean;
  readonly why: string;
}

export type FindingState = 'ok' | 'missing' | 'wrong' | 'unknown';

/** The result of looking up a record. */
export interface DomainFinding {
  readonly record: DomainRecord;
  readonly state: FindingState;
  readonly found: readonly string[];
  readonly explanation: string;
  /** The resolver that answered. */
  readonly resolver: string;
}

/** Names and addresses of this installation used in DNS records. */
export interface ServiceNames {
  readonly delivery: 'inbox' | 'relay' | 'direct';
  /** Name of the mail server in DNS, which also receives bounces; undefined if no setting names it. */
  readonly host: string | undefined;
  /** SPF mechanisms of the sending hosts; empty if they are unknown. */
  readonly spfMechanisms: readonly string[];
  /** Where relays show the records of a domain that only they know. */
  readonly recordsElsewhere: readonly string[];
  /** Whether mail gets a return path below its domain, so that bounces come back to this service. */
  readonly usesReturnPath: boolean;
  /** Host of PUBLIC_URL, for tracked links. */
  readonly trackingTarget: string | undefined;
}

export interface DomainEvaluation {
  readonly state: DomainState;
  readonly badChecks: number;
  /** Selectors that start signing. */
  readonly activate: readonly string[];
  /** Selectors that stop signing. */
  readonly retire: readonly string[];
  /** Seconds until the next check. */
  readonly nextCheckSeconds: number;
}

/** A single bad check may be a zone being edited or a resolver error, so it takes two in a row. */
const badChecksUntilBroken = 2;
const checkIntervalSeconds = {
  confirm: 120,
  broken: 900,
  unknown: 900,
  verified: 21_600,
  pending: 300,
  old: 3_600,
};
const dayMs = 86_400_000;

/**
 * Computes the next state of a domain from a check. Records that couldn't be looked up change nothing. A pending key whose
 * record is found replaces the active key of the same algorithm.
 * @param ageMs milliseconds since the domain was added
 */
export function evaluateDomain(
  state: DomainState,
  badChecks: number,
  keys: readonly PublicDkimKey[],
  findings: readonly DomainFinding[],
  ageMs: number,
): DomainEvaluation {
  const { activate, retire } = rotate(keys, findings);
  const required = findings.filter(({ record }) => record.required);
  const bad = required.some((one) => one.state === 'missing' || one.state === 'wrong');
  const unknown = required.some((one) => one.state === 'unknown');
  const base = { activate, retire };
  if (!bad && !unknown && required.length > 0)
    return {
      ...base,
      state: 'verified',
      badChecks: 0,
      nextCheckSeconds: checkIntervalSeconds.verified,
    };
  if (!bad) return { ...base, state, badChecks, nextCheckSeconds: checkIntervalSeconds.unknown };
  if (state === 'pending') {
    const nextCheckSeconds =
      ageMs < dayMs ? checkIntervalSeconds.pending : checkIntervalSeconds.old;
    return { ...base, state, badChecks: 0, nextCheckSeconds };
  }
  const count = badChecks + 1;
  const broken = state === 'broken' || count >= badChecksUntilBroken;
  return {
    ...base,
    state: broken ? 'broken' : 'verified',
    badChecks: count,
    nextCheckSeconds: broken ? checkIntervalSeconds.broken : checkIntervalSeconds.confirm,
  };
}

function rotate(
  keys: readonly PublicDkimKey[],
  findings: readonly DomainFinding[],
): { readonly activate: string[]; readonly retire: string[] } {
  const published = new Set(
    findings
      .filter(({ record, state }) => record.kind === 'dkim' && state === 'ok')
      .map(({ record }) => record.name.slice(0, record.name.indexOf('.'))),
  );
  const arriving = keys.filter((key) => key.state === 'pending' && published.has(key.selector));
  const leaving = keys.filter(
    (key) => key.state === 'active' && arriving.some((other) => other.algorithm === key.algorithm),
  );
  return {
    activate: arriving.map(({ selector }) => selector),
    retire: leaving.map(({ selector }) => selector),
  };
}
