import type { AccountId, PersonId } from '../foundation/ids.ts';

/** Days that the messages of an account are kept; each is a class of partitions. */
export type RetentionDays = 30 | 90 | 400;

/** Somebody's standing with the service: what it may do, and whether it may do anything now. */
export interface Account {
  readonly id: AccountId;
  readonly name: string;
  /** Such as `transactional`. */
  readonly addOns: ReadonlySet<string>;
  readonly suspended: boolean;
  readonly retentionDays: RetentionDays;
  /** Undefined: it may send as much as it likes. */
  readonly quota?: Quota | undefined;
}

/** Most messages that are accepted of an account in an hour and in a day (UTC, from the full hour); one of them at least. */
export interface Quota {
  readonly perHour: number | undefined;
  readonly perDay: number | undefined;
}

/** `service` is for programs: it sends and reads the status of messages. */
export const roles = ['owner', 'developer', 'marketer', 'viewer', 'service'] as const;

export type Role = (typeof roles)[number];

/** That a person acts in an account, and as what. */
export interface Membership {
  readonly accountId: AccountId;
  readonly role: Role;
}

/** A user: global, and a member of one or more accounts. */
export interface Person {
  readonly id: PersonId;
  /** In lower case. */
  readonly email: string;
  readonly name: string;
  readonly disabled: boolean;
}
