import { domainOf, type EmailAddress } from '../foundation/email-address.ts';

/** Staging settings: where mail may actually go. */
export interface StagingRules {
  /** Send everything to this address instead. */
  readonly redirect: string | undefined;
  /** Only these domains get mail; empty for all. */
  readonly allow: readonly string[];
}

export interface DeliveryRoute {
  /** Envelope address to the recipients it stands for. */
  readonly envelope: ReadonlyMap<string, readonly number[]>;
  /** Recipients excluded by DELIVERY_ALLOW. */
  readonly heldBack: readonly number[];
  /** Recipients on domains that the account has paused. */
  readonly paused: readonly number[];
  readonly redirected: boolean;
}

/**
 * Maps recipients to envelope addresses; recipients with the same address share one RCPT. A redirect applies to every
 * recipient, so DELIVERY_ALLOW has no effect then.
 */
export function routeRecipients(
  recipients: readonly EmailAddress[],
  pending: readonly number[],
  rules: StagingRules,
  pausedDestinations: readonly string[] = [],
): DeliveryRoute {
  const envelope = new Map<string, number[]>();
  const heldBack: number[] = [];
  const paused: number[] = [];
  for (const recipient of pending) {
    const address = recipients[recipient];
    if (address === undefined) continue;
    if (rules.redirect === undefined && !mayReceive(address, rules.allow)) {
      heldBack.push(recipient);
      continue;
    }
    if (pausedDestinations.includes(domainOf(address))) {
      paused.push(recipient);
      continue;
    }
    const target = rules.redirect ?? address;
    envelope.set(target, [...(envelope.get(target) ?? []), recipient]);
  }
  return { envelope, heldBack, paused, redirected: rules.redirect !== undefined };
}

function mayReceive(address: EmailAddress, allow: readonly string[]): boolean {
  return allow.length === 0 || allow.includes(domainOf(address));
}
