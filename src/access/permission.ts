import type { Role } from '../account/account.ts';

/** The permissions that operations on an account require; API key scopes have the same names. */
export const permissions = [
  'account:read',
  'account:write',
  'audit:read',
  'contacts:read',
  'contacts:write',
  'domains:read',
  'domains:write',
  'inbox:read',
  'inbox:write',
  'integrations:read',
  'integrations:write',
  'keys:read',
  'keys:write',
  'lists:read',
  'lists:write',
  'messages:read',
  'messages:control',
  'messages:send',
  'messages:status',
  'policy:write',
  'privacy:read',
  'privacy:write',
  'queue:read',
  'queue:control',
  'reports:read',
  'senders:read',
  'senders:write',
  'suppressions:read',
  'suppressions:write',
  'templates:read',
  'templates:write',
  'templates:publish',
  'users:read',
  'users:write',
  'webhooks:read',
  'webhooks:write',
] as const;

export type Permission = (typeof permissions)[number];

/**
 * Who can use an operation: anyone, any signed-in person, an operator of the installation, or a principal with the
 * permission in the account.
 */
export type Access = 'public' | 'signed-in' | 'operate' | Permission;

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
  'messages:status',
  'queue:control',
  'senders:write',
  'users:read',
  'webhooks:read',
  'webhooks:write',
];

/** A user for programs: sends and tracks its own messages, and has no access to the console. */
const service: readonly Permission[] = ['lists:read', 'messages:send', 'messages:status'];

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
