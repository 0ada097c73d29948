import type { Dns, DnsAnswer, DnsType } from '../../base/dns/dns-client.ts';
import { toNodeResolver } from '../../base/dns/to-node-resolver.ts';
import type { DomainFinding, DomainRecord, FindingState, ServiceNames } from './sending-domain.ts';

/** Lookups of an evaluation (RFC 7208 section 4.6.4). */
const maxLookups = 10;

/**
 * Whether the SPF record of `domain` (RFC 7208) allows the hosts that mail leaves from: it must include the SPF domain of a
 * known relay, directly or through other records, and pass for every address.
 */
export async function checkSpf(
  dns: Dns,
  domain: string,
  record: string,
  { spfMechanisms, host }: ServiceNames,
): Promise<{ readonly passes: boolean; readonly text: string }> {
  for (const mechanism of spfMechanisms) {
    const [kind, target = ''] = mechanism.split(':');
    if (kind !== 'include' || (await includes(dns, record, target, { lookups: maxLookups })))
      continue;
    return { passes: false, text: `The SPF record doesn’t contain ${mechanism}.` };
  }
  // Imported on first use, so that startup is faster.
  const { spf } = await import('mailauth/lib/spf/index.js');
  for (const mechanism of spfMechanisms) {
    const [kind, ...rest] = mechanism.split(':');
    const name = rest.join(':');
    if (kind === 'include') continue;
    const addresses = kind === 'a' ? await resolveAddresses(dns, name) : [name];
    if (addresses.length === 0)
      return { passes: false, text: `The mail server ${name} has no address record.` };
    for (const ip of addresses) {
      const { status } = await spf({
        sender: `bounce@${domain}`,
        ip,
        helo: host ?? name,
        resolver: toNodeResolver(dns),
        mta: host ?? name,
      });
      if (status.result !== 'pass')
        return { passes: false, text: `SPF for mail from ${ip} evaluates to ${status.result}.` };
    }
  }
  return { passes: true, text: '' };
}

/** Whether a record passes for all hosts of another domain: by including it, before a mechanism that matches everything. */
async function includes(
  dns: Dns,
  record: string,
  target: string,
  budget: { lookups: number },
): Promise<boolean> {
  const terms = record.toLowerCase().split(/\s+/).slice(1);
  for (const term of terms) {
    const [, qualifier = '', name = ''] = /^([-+~?]?)([a-z]+)/.exec(term) ?? [];
    const passes = qualifier === '' || qualifier === '+';
    if (name === 'all') return passes;
    if (name !== 'include' || !passes) continue;
    const domain = term.slice(term.indexOf(':') + 1);
    if (domain === target || (await includedBy(dns, domain, target, budget))) return true;
  }
  // RFC 7208 section 6.1: it counts if no mechanism matched.
  const redirect = terms.find((term) => term.startsWith('redirect='));
  if (redirect === undefined) return false;
  const domain = redirect.slice('redirect='.length);
  return domain === target || (await includedBy(dns, domain, target, budget));
}

async function includedBy(
  dns: Dns,
  domain: string,
  target: string,
  budget: { lookups: number },
): Promise<boolean> {
  budget.lookups -= 1;
  // A macro depends on the message (RFC 7208 section 7).
  if (budget.lookups < 0 || domain.includes('%')) return false;
  const answer = await dns.lookUp(domain, 'TXT');
  const records = answer.kind === 'found' ? answer.records : [];
  const record = records.find((text) => /^v=spf1( |$)/i.test(text));
  return record !== undefined && (await includes(dns, record, target, budget));
}

async function resolveAddresses(dns: Dns, host: string): Promise<string[]> {
  const answers = [await dns.lookUp(host, 'A'), await dns.lookUp(host, 'AAAA')];
  return answers.flatMap((answer) => (answer.kind === 'found' ? [...answer.records] : []));
}

interface Verdict {
  readonly state: FindingState;
  readonly explanation: string;
}

/** Max records in a finding. */
const maxShownRecords = 10;
const maxShownLength = 1_000;

/** Looks up a record and compares it with the expected one. Never throws; a failed lookup yields `unknown`. */
export async function checkRecord(
  dns: Dns,
  record: DomainRecord,
  service: ServiceNames,
): Promise<DomainFinding> {
  switch (record.kind) {
    case 'dkim':
      return evaluateAnswer(record, await dns.lookUp(record.name, 'TXT'), (found) =>
        evaluateDkim(record.value, found),
      );
    case 'spf':
    case 'from-spf': {
      const answer = await dns.lookUp(record.name, 'TXT');
      const published = answer.kind === 'found' ? answer.records.find(isSpf) : undefined;
      const spf = await checkSpf(dns, record.name, published ?? '', service);
      return evaluateAnswer(record, answer, (found) => evaluateSpf(found, spf), isSpf);
    }
    case 'return-path':
      return evaluateAnswer(record, await dns.lookUp(record.name, 'MX'), (found) =>
        evaluateMx(record.value, found),
      );
    case 'dmarc':
      return evaluateAnswer(record, await lookUpDmarc(dns, record.name), evaluateDmarc, isDmarc);
    case 'tracking':
      return evaluateAnswer(record, await dns.lookUp(record.name, 'CNAME'), (found) =>
        evaluateCname(record.value, found),
      );
  }
}

function evaluateAnswer<Type extends DnsType>(
  record: DomainRecord,
  answer: DnsAnswer<Type>,
  compare: (found: readonly string[]) => Verdict,
  isRelevant: (text: string) => boolean = () => true,
): DomainFinding {
  const resolver = answer.server;
  if (answer.kind === 'fault') {
    const explanation = `The DNS lookup failed: ${answer.text}.`;
    return { record, state: 'unknown', found: [], explanation, resolver };
  }
  const found = answer.kind === 'absent' ? [] : answer.records.map(formatRecord).filter(isRelevant);
  const shown = found.slice(0, maxShownRecords).map((text) => text.slice(0, maxShownLength));
  if (found.length === 0) {
    const explanation = `No ${record.type} record found at ${record.name}.`;
    return { record, state: 'missing', found: [], explanation, resolver };
  }
  return { record, ...compare(found), found: shown, resolver };
}

function formatRecord(
  data: string | { readonly preference: number; readonly exchange: string },
): string {
  return typeof data === 'string' ? data : `${data.preference} ${data.exchange}.`;
}

function evaluateDkim(expected: string, found: readonly string[]): Verdict {
  if (found.length > 1) return wrong('There are several TXT records at this name. Keep only one.');
  const [actual = ''] = found;
  const tags = readTags(actual);
  if (tags.get('p') === '') return wrong('The record revokes the key: `p=` is empty.');
  if (tags.get('p') !== readTags(expected).get('p'))
    return wrong('The record contains a different key, or part of the key is missing.');
  const kind = readTags(expected).get('k') ?? 'rsa';
  if ((tags.get('k') ?? 'rsa') !== kind) return wrong(`The record must contain k=${kind}.`);
  return ok('The key is published.');
}

/** RFC 6376 section 3.2: a tag list; white space inside a key is ignored. Names are in lower case, as DMARC ignores it (RFC 7489 section 6.4). */
function readTags(text: string): Map<string, string> {
  const pairs = text.split(';').map((part) => {
    const equals = part.indexOf('=');
    return [
      part.slice(0, equals).trim().toLowerCase(),
      part.slice(equals + 1).replace(/\s+/g, ''),
    ] as const;
  });
  return new Map(pairs.filter(([name]) => name !== ''));
}

function isSpf(text: string): boolean {
  return /^v=spf1( |$)/i.test(text);
}

function evaluateSpf(
  found: readonly string[],
  spf: { readonly passes: boolean; readonly text: string },
): Verdict {
  // RFC 7208 section 4.5: more than one record is an error for the whole domain.
  if (found.length > 1) return wrong('There are several SPF records. Merge them into one.');
  return spf.passes ? ok('This service is allowed to send.') : wrong(spf.text);
}

function evaluateMx(expected: string, found: readonly string[]): Verdict {
  const [host = '', ...hosts] = [expected, ...found].map((text) =>
    text.slice(text.indexOf(' ') + 1),
  );
  if (!hosts.includes(host)) return wrong(`No MX record points to ${host.replace(/\.$/, '')}.`);
  return ok('Bounces are received.');
}

function isDmarc(text: string): boolean {
  return /^v\s*=\s*DMARC1\s*(;|$)/i.test(text);
}

/** RFC 7489 section 6.6.3: the domain's own record, or that of a parent domain. */
async function lookUpDmarc(dns: Dns, name: string): Promise<DnsAnswer<'TXT'>> {
  const first = await dns.lookUp(name, 'TXT');
  let answer = first;
  let domain = name.slice('_dmarc.'.length);
  while (answer.kind !== 'fault' && !(answer.kind === 'found' && answer.records.some(isDmarc))) {
    domain = domain.slice(domain.indexOf('.') + 1);
    if (!domain.includes('.')) return first;
    answer = await dns.lookUp(`_dmarc.${domain}`, 'TXT');
  }
  return answer;
}

function evaluateDmarc(found: readonly string[]): Verdict {
  if (found.length > 1)
    return wrong(
      'There are several DMARC records, so receiving servers ignore them all. Keep only one.',
    );
  const policy = readTags(found[0] ?? '')
    .get('p')
    ?.toLowerCase();
  if (policy === undefined || !['none', 'quarantine', 'reject'].includes(policy))
    return wrong('The record needs a policy: p=none, p=quarantine or p=reject.');
  return ok(`The policy is ${policy}.`);
}

function evaluateCname(expected: string, found: readonly string[]): Verdict {
  const target = expected.replace(/\.$/, '').toLowerCase();
  const [actual = ''] = found;
  if (actual.replace(/\.$/, '') !== target) return wrong(`The name points to ${actual}.`);
  return ok('Tracked links reach this service.');
}

function ok(explanation: string): Verdict {
  return { state: 'ok', explanation };
}

function wrong(explanation: string): Verdict {
  return { state: 'wrong', explanation };
}
