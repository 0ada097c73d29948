import data from './destination-profiles.json' with { type: 'json' };
import type { Destination, DestinationProfile } from './sending-limiter.ts';

interface Operator extends DestinationProfile {
  readonly name: string;
  readonly label: string;
  readonly mx: readonly string[];
}

const operators: readonly Operator[] = data.operators;

/**
 * The destination of a domain: the operator of its preferred MX host, or the host's own domain, so that unknown mail
 * hosters also count as one destination.
 * @param host the preferred MX host
 * @param domain the recipients' domain, used if the host isn't conclusive
 */
export function findDestination(host: string, domain: string): Destination {
  const operator = operators.find(({ mx }) =>
    mx.some((pattern) => host.endsWith(pattern.slice(1))),
  );
  if (operator !== undefined)
    return {
      name: operator.name,
      label: operator.label,
      operator: operator.name,
      profile: operator,
    };
  const name = hostingDomainOf(host, domain);
  return { name, label: name, profile: data.default };
}

/** The profile of a destination by its name. */
export function findDestinationProfile(name: string): DestinationProfile {
  return operators.find((operator) => operator.name === name) ?? data.default;
}

/** The last two labels of a hostname, or three under short suffixes such as `co.uk`; address literals are unchanged. */
function hostingDomainOf(host: string, domain: string): string {
  if (host.startsWith('[')) return domain;
  const labels = host.split('.');
  const second = labels.at(-2) ?? '';
  const short = second.length <= 3 && (labels.at(-1) ?? '').length === 2;
  return labels.slice(short ? -3 : -2).join('.');
}
