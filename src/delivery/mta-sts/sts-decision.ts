import type { StsPolicy } from './sts-policy.ts';

/** A stored policy, shared by all nodes. */
export interface StoredStsPolicy {
  readonly domain: string;
  /** `id` of the TXT record it was fetched for. */
  readonly recordId: string;
  readonly policy: StsPolicy;
  readonly fetchedAt: Date;
}

/** What the TXT record says: an id, no policy, or nothing conclusive. */
export type StsRecord =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'fault' };

export type StsStep =
  /** Use the stored policy; refresh it in the background if `renew` is set. */
  | { readonly kind: 'use'; readonly policy: StsPolicy; readonly renew: boolean }
  /** Fetch before delivering; if that fails, use `otherwise`. */
  | { readonly kind: 'fetch'; readonly id: string; readonly otherwise: StsPolicy | undefined }
  /** The domain has no policy. */
  | { readonly kind: 'none' };

/** RFC 8461 section 3.3 suggests checking daily, so that a policy is refreshed long before it expires. */
const renewAfterMs = 86_400_000;

/**
 * Decides what to do about a domain's policy before a delivery (RFC 8461 sections 3.3 and 5.1). A stored policy applies
 * until it expires even if the record is gone or unreadable: someone who can suppress the record must not be able to
 * disable the policy.
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
