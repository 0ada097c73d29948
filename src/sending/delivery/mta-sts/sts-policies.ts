import { LRUCache } from 'lru-cache';
import type { Dns } from '../../../base/dns/dns-client.ts';
import type { Clock } from '../../../base/values/clock.ts';
import type { Log } from '../../../base/values/log.ts';
import type { StsFetchFault, StsFetchResult } from './fetch-sts-policy.ts';
import { readStsRecord, type StsPolicy } from './sts-policy.ts';
import type { StoredStsPolicy, StsPolicyStore } from './sts-policy-store.ts';

/** What the TXT record says: an id, no policy, or nothing conclusive. */
type StsRecord =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'fault' };

type StsStep =
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

export interface StsPoliciesDependencies {
  readonly dns: Dns;
  readonly store: Pick<StsPolicyStore, 'read' | 'save'>;
  readonly fetch: (domain: string) => Promise<StsFetchResult>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The policy for a delivery, and what failed while finding it (for RFC 8460). */
export interface StsFinding {
  readonly policy: StsPolicy | undefined;
  readonly fault: StsFetchFault | undefined;
}

/** RFC 8461 section 3.3: wait at least five minutes after a failed fetch. */
const pauseAfterFaultMs = 300_000;
const maxPauses = 10_000;

/** Finds a domain's policy in storage or fetches it. */
export class StsPolicies {
  readonly #dependencies: StsPoliciesDependencies;
  readonly #fetching = new Map<string, Promise<StsFetchResult>>();
  /** Domains that aren't fetched for now, with the fault of their last fetch. */
  readonly #pauses: LRUCache<string, StsFetchFault>;

  constructor(dependencies: StsPoliciesDependencies) {
    this.#dependencies = dependencies;
    const { clock } = dependencies;
    this.#pauses = new LRUCache({
      max: maxPauses,
      ttl: pauseAfterFaultMs,
      ttlResolution: 0,
      perf: clock,
    });
  }

  /** The policy for mail to a domain. Never throws. */
  async find(domain: string): Promise<StsFinding> {
    const { store, clock, log } = this.#dependencies;
    const record = await this.#record(domain);
    const stored = await store.read(domain).catch((error: unknown) => {
      log.warn({ err: error }, 'could not read stored MTA-STS policies');
      return undefined;
    });
    const step = decideSts(record, stored, clock.now());
    if (step.kind === 'none') return { policy: undefined, fault: undefined };
    if (step.kind === 'use') {
      if (step.renew && record.kind === 'id') void this.#fetch(domain, record.id);
      return { policy: step.policy, fault: undefined };
    }
    const fetched = await this.#fetch(domain, step.id);
    return fetched.kind === 'policy'
      ? { policy: fetched.policy, fault: undefined }
      : { policy: step.otherwise, fault: fetched.fault };
  }

  async #record(domain: string): Promise<StsRecord> {
    const answer = await this.#dependencies.dns.lookUp(`_mta-sts.${domain}`, 'TXT');
    if (answer.kind === 'fault') return { kind: 'fault' };
    const id = answer.kind === 'found' ? readStsRecord(answer.records) : undefined;
    return id === undefined ? { kind: 'none' } : { kind: 'id', id };
  }

  async #fetch(domain: string, id: string): Promise<StsFetchResult> {
    const fault = this.#pauses.get(domain);
    if (fault !== undefined) return { kind: 'fault', fault, text: 'a recent fetch failed' };
    const pending = this.#fetching.get(domain);
    if (pending !== undefined) return await pending;
    const fetching = this.#fetchAndStore(domain, id).finally(() => this.#fetching.delete(domain));
    this.#fetching.set(domain, fetching);
    return await fetching;
  }

  async #fetchAndStore(domain: string, id: string): Promise<StsFetchResult> {
    const { fetch, store, clock, log } = this.#dependencies;
    const fetched = await fetch(domain);
    if (fetched.kind === 'fault') {
      this.#pauses.set(domain, fetched.fault);
      log.info({ domain, reason: fetched.text }, 'could not fetch an MTA-STS policy');
      return fetched;
    }
    this.#pauses.delete(domain);
    const stored = {
      domain,
      recordId: id,
      policy: fetched.policy,
      fetchedAt: new Date(clock.now()),
    };
    await store.save(stored).catch((error: unknown) => {
      log.warn({ err: error, domain }, 'could not store an MTA-STS policy');
    });
    return fetched;
  }
}
