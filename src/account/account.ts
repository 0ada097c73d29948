import type { EmailAddress } from '../foundation/email-address.ts';
import type { AccountId, PersonId } from '../foundation/ids.ts';

/** Days that an account's messages are kept; each value has its own partitions. */
export type RetentionDays = 30 | 90 | 400;

/** A customer of the service: what it may do, and whether it is suspended. */
export interface Account {
  readonly id: AccountId;
  readonly name: string;
  /** Such as `transactional`. */
  readonly addOns: ReadonlySet<string>;
  readonly suspended: boolean;
  readonly retentionDays: RetentionDays;
  /** Undefined: no limit. */
  readonly quota?: Quota | undefined;
  /** Gets a blind copy of the account's mail, except of templates with secret fields. */
  readonly archiveAddress?: EmailAddress | undefined;
  /** Max bytes of a message with attachments as sent; 0: none, undefined: the installation's default. */
  readonly attachmentLimit?: number | undefined;
  /** Its messages are made up by `demo fill`. */
  readonly demo?: true;
  /** Undefined: asks nothing of its callers beyond their role. */
  readonly policy?: AccessPolicy | undefined;
}

/** Who needs a second factor in an account. */
export const secondFactorRules = ['own-choice', 'owners', 'everyone'] as const;

/** How the people of an account sign in. */
export const signInRules = ['own-choice', 'single-sign-on'] as const;

/** What an account asks of its callers beyond their role. */
export interface AccessPolicy {
  /** `single-sign-on`: with the account's or the installation's provider. Never applies to the role `service` and operators. */
  readonly signIn: (typeof signInRules)[number];
  /** Never applies to the role `service`. */
  readonly secondFactor: (typeof secondFactorRules)[number];
  /** Hours after which people confirm who they are again. */
  readonly signInHours: number | undefined;
  /** Where people may come from; empty: anywhere. */
  readonly peopleNetworks: readonly string[];
  /** Where API keys and access tokens may come from; empty: anywhere. */
  readonly programNetworks: readonly string[];
  /** Gets the security notices about the account, its owners and operators too. */
  readonly securityAddress: EmailAddress | undefined;
}

/** Maximum messages accepted per hour and per day (UTC, calendar hours and days); at least one of them is set. */
export interface Quota {
  readonly perHour: number | undefined;
  readonly perDay: number | undefined;
}

/** `service` is for programs: it sends messages and reads their status. */
export const roles = ['owner', 'developer', 'marketer', 'viewer', 'service'] as const;

export type Role = (typeof roles)[number];

/** A person's role in an account. */
export interface Membership {
  readonly accountId: AccountId;
  readonly role: Role;
}

/** A user: global, and a member of one or more accounts. */
export interface Person {
  readonly id: PersonId;
  /** Lowercase. */
  readonly email: string;
  readonly name: string;
  readonly disabled: boolean;
}
