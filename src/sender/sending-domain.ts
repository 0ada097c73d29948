import type { AccountId } from '../foundation/ids.ts';
import type { DkimAlgorithm } from './dkim-key.ts';
import type { DnsProvider } from './find-zone.ts';

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
  /** The DNS provider of the zone, if it is a known one. */
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
  /** SPF mechanisms of the hosts that mail leaves from; empty if they are unknown. */
  readonly spfMechanisms: readonly string[];
  /** Whether mail gets a return path below its domain, so that bounces come back to this service. */
  readonly usesReturnPath: boolean;
  /** Host of PUBLIC_URL, for tracked links. */
  readonly trackingTarget: string | undefined;
}
