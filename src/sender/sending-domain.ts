import type { AccountId } from '../foundation/ids.ts';
import type { DkimAlgorithm } from './dkim-key.ts';

/**
 * How far a domain is set up. `pending`: its records have never been found right. `verified`: they are. `broken`: they
 * were, and no longer are, which was found twice in a row.
 */
export type DomainState = 'pending' | 'verified' | 'broken';

export interface SendingDomain {
  readonly accountId: AccountId;
  /** In A-labels. */
  readonly domain: string;
  readonly state: DomainState;
  readonly stateAt: Date;
  readonly badChecks: number;
  /** Host under the domain that bounces come back to. */
  readonly returnPath: string;
  /** Host under the domain for tracked links, where they are to carry it. */
  readonly trackingHost: string | undefined;
  readonly sourcePool: string;
  readonly warmUp: WarmUpSchedule | undefined;
  readonly checkedAt: Date | undefined;
}

/** Most messages of each day, from a day on. */
export interface WarmUpSchedule {
  /** `2026-03-01`, in UTC. */
  readonly from: string;
  readonly plan: readonly number[];
}

/** `pending` waits for its record, `active` signs, `retired` signs no more while its mail may still be on its way. */
export type DkimKeyState = 'pending' | 'active' | 'retired';

/** A key as it is shown: without the private part. */
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
  /** Exactly as it is to be published. */
  readonly value: string;
  /** False for what helps, and for keys that are not needed yet or any more. */
  readonly required: boolean;
  readonly why: string;
}

export type FindingState = 'ok' | 'missing' | 'wrong' | 'unknown';

/** What was found where a record belongs. */
export interface DomainFinding {
  readonly record: DomainRecord;
  readonly state: FindingState;
  readonly found: readonly string[];
  readonly explanation: string;
  /** Which resolver said so. */
  readonly resolver: string;
}

/** Names and addresses of this installation that records of domains refer to. */
export interface ServiceNames {
  /** Name of the mail server; takes bounces. */
  readonly host: string;
  /** Addresses that mail leaves from; empty: those of the host. */
  readonly addresses: readonly string[];
  /** Host of the public address, for tracked links. */
  readonly trackingTarget: string | undefined;
}
