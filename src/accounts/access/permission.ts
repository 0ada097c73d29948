import type { Role } from '../account/account.ts';

/** Roles of people, from the least to the most powerful one. */
const personRoles = ['viewer', 'marketer', 'developer', 'owner'] as const satisfies Role[];
type PersonRole = (typeof personRoles)[number];

/**
 * The permissions that operations on an account require, what they are for, and the least powerful role of people that has them.
 * In a suspended account, people and programs can still read. API key scopes have the same names.
 */
const table = {
  'account:read': ['reads', 'viewer'],
  'account:write': ['changes', 'owner'],
  'audit:read': ['reads', 'owner'],
  'contacts:read': ['reads', 'marketer'],
  'contacts:write': ['changes', 'marketer'],
  'domains:read': ['reads', 'viewer'],
  'domains:write': ['changes', 'developer'],
  'inbox:read': ['reads', 'developer'],
  'inbox:write': ['changes', 'developer'],
  'integrations:read': ['reads', 'developer'],
  'integrations:write': ['changes', 'developer'],
  'keys:read': ['reads', 'developer'],
  'keys:write': ['changes', 'developer'],
  'lists:read': ['reads', 'viewer'],
  'lists:write': ['changes', 'marketer'],
  'messages:read': ['reads', 'viewer'],
  'messages:control': ['changes', 'developer'],
  'messages:send': ['changes', 'developer'],
  'messages:send-content': ['changes', 'developer'],
  'messages:status': ['reads', 'developer'],
  'messages:test': ['changes', 'marketer'],
  'outbox:read': ['reads', 'developer'],
  'outbox:write': ['changes', 'developer'],
  'policy:write': ['changes', 'owner'],
  'privacy:read': ['reads', 'owner'],
  'privacy:write': ['changes', 'owner'],
  'queue:read': ['reads', 'viewer'],
  'queue:control': ['changes', 'developer'],
  'reports:read': ['reads', 'viewer'],
  'senders:read': ['reads', 'viewer'],
  'senders:write': ['changes', 'developer'],
  'suppressions:read': ['reads', 'viewer'],
  'suppressions:write': ['changes', 'marketer'],
  'templates:read': ['reads', 'viewer'],
  'templates:write': ['changes', 'marketer'],
  'templates:publish': ['changes', 'marketer'],
  'users:read': ['reads', 'developer'],
  'users:write': ['changes', 'owner'],
  'webhooks:read': ['reads', 'developer'],
  'webhooks:write': ['changes', 'developer'],
} as const satisfies Readonly<Record<string, readonly ['reads' | 'changes', PersonRole]>>;

export type Permission = keyof typeof table;

export const permissions = Object.keys(table) as readonly Permission[];

/** True for permissions that change nothing and send nothing. */
export function onlyReads(permission: Permission): boolean {
  return table[permission][0] === 'reads';
}

/**
 * Who can use an operation: anyone, any signed-in person, an operator of the installation, a reader of all captured mail, or a
 * principal with the permission in the account.
 */
export type Access = 'public' | 'signed-in' | 'operate' | 'inbox' | Permission;

/** Who can open a page: a signed-in person, one whose session reaches everything that is theirs, or a reader of all captured mail. */
export type PageAccess = 'signed-in' | 'full-reach' | 'inbox';

/** Permissions of a role, which has those of the less powerful ones too. */
function permissionsFrom(role: PersonRole): ReadonlySet<Permission> {
  const power = personRoles.indexOf(role);
  return new Set(permissions.filter((name) => personRoles.indexOf(table[name][1]) <= power));
}

/** A user for programs: sends and tracks its own messages, and has no access to the console. */
const service: readonly Permission[] = [
  'lists:read',
  'messages:send',
  'messages:send-content',
  'messages:status',
];

/** The permissions of each role in its account; an owner has all of them. */
export const permissionsOf: Readonly<Record<Role, ReadonlySet<Permission>>> = {
  viewer: permissionsFrom('viewer'),
  marketer: permissionsFrom('marketer'),
  developer: permissionsFrom('developer'),
  owner: permissionsFrom('owner'),
  service: new Set(service),
};

/**
 * Permissions reserved for people: a key with them would outlive the trust in its creator (ASVS 4.0.3 section 4.1.3), or could
 * decide which people get in and who reads the account's mail. An outbox sends with all templates whatever its creator may do.
 */
export const peopleOnly: readonly Permission[] = [
  'keys:read',
  'keys:write',
  'outbox:write',
  'policy:write',
  'privacy:read',
  'privacy:write',
  'users:write',
];

/** The permissions that an API key can have. */
export const keyScopes: readonly Permission[] = permissions.filter(
  (permission) => !peopleOnly.includes(permission),
);
