import type { Role } from '../account/account.ts';

/**
 * The permissions that operations on an account require, and what they are for. In a suspended account, people and programs
 * can still read. API key scopes have the same names.
 */
const effects = {
  'account:read': 'reads',
  'account:write': 'changes',
  'audit:read': 'reads',
  'contacts:read': 'reads',
  'contacts:write': 'changes',
  'domains:read': 'reads',
  'domains:write': 'changes',
  'inbox:read': 'reads',
  'inbox:write': 'changes',
  'integrations:read': 'reads',
  'integrations:write': 'changes',
  'keys:read': 'reads',
  'keys:write': 'changes',
  'lists:read': 'reads',
  'lists:write': 'changes',
  'messages:read': 'reads',
  'messages:control': 'changes',
  'messages:send': 'changes',
  'messages:send-content': 'changes',
  'messages:status': 'reads',
  'messages:test': 'changes',
  'policy:write': 'changes',
  'privacy:read': 'reads',
  'privacy:write': 'changes',
  'queue:read': 'reads',
  'queue:control': 'changes',
  'reports:read': 'reads',
  'senders:read': 'reads',
  'senders:write': 'changes',
  'suppressions:read': 'reads',
  'suppressions:write': 'changes',
  'templates:read': 'reads',
  'templates:write': 'changes',
  'templates:publish': 'changes',
  'users:read': 'reads',
  'users:write': 'changes',
  'webhooks:read': 'reads',
  'webhooks:write': 'changes',
} as const satisfies Readonly<Record<string, 'reads' | 'changes'>>;

export type Permission = keyof typeof effects;

export const permissions = Object.keys(effects) as readonly Permission[];

/** True for permissions that change nothing and send nothing. */
export function onlyReads(permission: Permission): boolean {
  return effects[permission] === 'reads';
}

/**
 * Who can use an operation: anyone, any signed-in person, an operator of the installation, or a principal with the
 * permission in the account.
 */
export type Access = 'public' | 'signed-in' | 'operate' | Permission;

/** Who can open a page: a signed-in person, one whose session reaches everything that is theirs, or a reader of all captured mail. */
export type PageAccess = 'signed-in' | 'full-reach' | 'inbox';

const viewer: readonly Permission[] = [
  'account:read',
  'domains:read',
  'lists:read',
  'messages:read',
  'queue:read',
  'reports:read',
  'senders:read',
  'suppressions:read',
  'templates:read',
];

const marketer: readonly Permission[] = [
  ...viewer,
  'contacts:read',
  'contacts:write',
  'lists:write',
  'messages:test',
  'suppressions:write',
  'templates:write',
  'templates:publish',
];

const developer: readonly Permission[] = [
  ...marketer,
  'domains:write',
  'inbox:read',
  'inbox:write',
  'integrations:read',
  'integrations:write',
  'keys:read',
  'keys:write',
  'messages:control',
  'messages:send',
  'messages:send-content',
  'messages:status',
  'queue:control',
  'senders:write',
  'users:read',
  'webhooks:read',
  'webhooks:write',
];

/** A user for programs: sends and tracks its own messages, and has no access to the console. */
const service: readonly Permission[] = [
  'lists:read',
  'messages:send',
  'messages:send-content',
  'messages:status',
];

/** The permissions of each role in its account; an owner has all of them. */
export const permissionsOf: Readonly<Record<Role, ReadonlySet<Permission>>> = {
  viewer: new Set(viewer),
  marketer: new Set(marketer),
  developer: new Set(developer),
  owner: new Set(permissions),
  service: new Set(service),
};

/**
 * Permissions reserved for people: a key with them would outlive the trust in its creator (ASVS 4.0.3 section 4.1.3), or could
 * decide which people get in and who reads the account's mail.
 */
export const peopleOnly: readonly Permission[] = [
  'keys:read',
  'keys:write',
  'policy:write',
  'privacy:read',
  'privacy:write',
  'users:write',
];

/** The permissions that an API key can have. */
export const keyScopes: readonly Permission[] = permissions.filter(
  (permission) => !peopleOnly.includes(permission),
);
