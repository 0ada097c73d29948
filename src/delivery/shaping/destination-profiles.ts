import data from './destination-profiles.json' with { type: 'json' };
import type { Destination, DestinationProfile } from './sending-limiter.ts';

interface Operator extends DestinationProfile {
  readonly name: string;
  readonly label: string;
  readonly mx: readonly string[];
}

const operators: readonly Operator[] = data.operators;

/**
 * The destination that a domain belongs to: the operator of its most wanted MX host, whose many domains are one, or else
 * the host's own domain, so that mail hosters nobody has described are one too.
 * @param host the most wanted MX host
 * @param domain the recipients' domain, where the host says nothing
 */
export function findDestination(host: string, domain: string): Destination {
  const operator = operators.find(({ mx }) =>
    mx.some((pattern) => host.endsWith(pattern.slice(1))),
  );
  if (operator !== undefined)
    return { name: operator.name, label: operator.label, profile: operator };
  const name = hostingDomainOf(host, domain);
  return { name, label: name, profile: data.default };
}

/** The profile of a destination by its name. */
export function findDestinationProfile(name: string): DestinationProfile {
  return operators.find((operator) => operator.name === name) ?? data.default;
}

/** The last two labels of a host name, or three below short ones such as `co.uk`; a literal stands for itself. */
function hostingDomainOf(host: string, domain: string): string {
  if (host.startsWith('[')) return domain;
  const labels = host.split('.');
  const second = labels.at(-2) ?? '';
  const short = second.length <= 3 && (labels.at(-1) ?? '').length === 2;
  return labels.slice(short ? -3 : -2).join('.');
}
