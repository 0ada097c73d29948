import type { StsPolicy } from './sts-policy.ts';

/** A policy as it is kept, for all nodes. */
export interface StoredStsPolicy {
  readonly domain: string;
  /** `id` of the TXT record that led to it. */
  readonly recordId: string;
  readonly policy: StsPolicy;
  readonly fetchedAt: Date;
}

/** What the TXT record says: an id, that there is none, or nothing that counts. */
export type StsRecord =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'fault' };

export type StsStep =
  /** Use what is kept; renew it beside the delivery where `renew` says so. */
  | { readonly kind: 'use'; readonly policy: StsPolicy; readonly renew: boolean }
  /** Fetch before delivering; where that fails, `otherwise` holds. */
  | { readonly kind: 'fetch'; readonly id: string; readonly otherwise: StsPolicy | undefined }
  /** The domain has no policy. */
  | { readonly kind: 'none' };

/** RFC 8461 section 3.3 suggests a fresh look once a day, so that a policy is renewed long before its end. */
const renewAfterMs = 86_400_000;

/**
 * What to do about a domain's policy before a delivery: the state machine of RFC 8461 sections 3.3 and 5.1. A policy that
 * is kept holds until its age is over, also where the record is gone or cannot be read: who can suppress the record must
 * not be able to switch the policy off.
 * @param now milliseconds since the epoch
 */
export function decideSts(
  record: StsRecord,
  stored: StoredStsPolicy | undefined,
  now: number,
): StsStep {
  const valid = stored !== undefined && now < endOf(stored) ? stored : undefined;
  if (record.kind !== 'id')
    return valid === undefined
      ? { kind: 'none' }
      : { kind: 'use', policy: valid.policy, renew: false };
  if (valid === undefined || valid.recordId !== record.id)
    return { kind: 'fetch', id: record.id, otherwise: valid?.policy };
  const age = now - valid.fetchedAt.getTime();
  const renew = age > Math.min(renewAfterMs, (valid.policy.maxAge * 1_000) / 2);
  return { kind: 'use', policy: valid.policy, renew };
}

function endOf({ fetchedAt, policy }: StoredStsPolicy): number {
  return fetchedAt.getTime() + policy.maxAge * 1_000;
}
