/** A reserved domain (RFC 6761 section 6.2); mail to it never leaves this service. */
export const simulatedDomain = 'simulator.test';

/** The outcome simulated for an address at the reserved domain. */
export type SimulatedOutcome = 'delivered' | 'bounce' | 'complaint' | 'defer' | 'suppressed';

const outcomes: readonly SimulatedOutcome[] = [
  'delivered',
  'bounce',
  'complaint',
  'defer',
  'suppressed',
];

/**
 * The outcome requested by an address such as `bounce@simulator.test` or `bounce+anything@simulator.test`. Unknown local parts
 * bounce. Undefined for every other domain.
 */
export function simulatedOutcome(address: string): SimulatedOutcome | undefined {
  const at = address.length - simulatedDomain.length - 1;
  if (at < 1 || address[at] !== '@' || address.slice(at + 1).toLowerCase() !== simulatedDomain)
    return undefined;
  const name = address.slice(0, at).toLowerCase().split('+')[0];
  return outcomes.find((outcome) => outcome === name) ?? 'bounce';
}
