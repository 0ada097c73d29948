import type { Role } from '../account/account.ts';

/** What an operation on an account requires; the scopes of API keys have the same names. */
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
 * Who an operation is for: anyone, anyone who is signed in, an operator of the installation, or a principal with the
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

/** A user for machines: sends and follows what it sent, and opens nothing in the console. */
const service: readonly Permission[] = ['lists:read', 'messages:send', 'messages:status'];

/** What each role may do in its account; an owner may do everything there. */
export const permissionsOf: Readonly<Record<Role, ReadonlySet<Permission>>> = {
  viewer: new Set(viewer),
  marketer: new Set(marketer),
  developer: new Set(developer),
  owner: new Set(permissions),
  service: new Set(service),
};

/** What only people do: a key that could do it would outlive the trust in whoever made it (ASVS 4.0.3 section 4.1.3). */
const peopleOnly: readonly Permission[] = [
  'keys:read',
  'keys:write',
  'privacy:read',
  'privacy:write',
  'users:write',
];

/** The permissions that an API key can have. */
export const keyScopes: readonly Permission[] = permissions.filter(
  (permission) => !peopleOnly.includes(permission),
);
