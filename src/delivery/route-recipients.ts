import { domainOf, type EmailAddress } from '../foundation/email-address.ts';

/** The staging settings: where mail may really go. */
export interface StagingRules {
  /** Everything goes to this one address instead. */
  readonly redirect: string | undefined;
  /** Only these domains get mail; empty: all. */
  readonly allow: readonly string[];
}

export interface DeliveryRoute {
  /** Envelope address to the recipients that it stands for. */
  readonly envelope: ReadonlyMap<string, readonly number[]>;
  /** Recipients that get nothing, by DELIVERY_ALLOW. */
  readonly heldBack: readonly number[];
  /** Recipients whose domain the account has paused. */
  readonly paused: readonly number[];
  readonly redirected: boolean;
}

/**
 * Decides which envelope addresses stand for the recipients. Recipients with one address share one RCPT. A redirect
 * takes everything, so that nothing is left for DELIVERY_ALLOW to hold back.
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
