import type { Role } from '../../account/account.ts';

/** What an endpoint of an account asks for; the scopes of API keys have the same names. */
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
 * Who an endpoint is for: anybody at all, anybody who is signed in, an operator of the installation, or whoever has the
 * permission in the account of the path.
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
  'queue:control',
  'senders:write',
  'users:read',
  'webhooks:read',
  'webhooks:write',
];

/** What each role may do in its account; an owner may do everything there. */
export const permissionsOf: Readonly<Record<Role, ReadonlySet<Permission>>> = {
  viewer: new Set(viewer),
  marketer: new Set(marketer),
  developer: new Set(developer),
  owner: new Set(permissions),
};
