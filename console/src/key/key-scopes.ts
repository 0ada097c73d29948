import type { paths } from '../api/management.generated.ts';

/** A scope of an API key, as listed in the API description. */
export type KeyScope =
  paths['/accounts/{accountId}/keys']['post']['requestBody']['content']['application/json']['scopes'][number];

export const scopeGroups = ['send', 'messages', 'content', 'people', 'set-up'] as const;

type ScopeGroup = (typeof scopeGroups)[number];

/** The group of every scope, most used first. Doesn't compile if the API adds or removes a scope. */
const groupByScope: Readonly<Record<KeyScope, ScopeGroup>> = {
  'messages:send': 'send',
  'messages:send-content': 'send',
  'messages:status': 'send',
  'lists:read': 'send',
  'messages:read': 'messages',
  'messages:control': 'messages',
  'queue:read': 'messages',
  'queue:control': 'messages',
  'reports:read': 'messages',
  'inbox:read': 'messages',
  'inbox:write': 'messages',
  'templates:read': 'content',
  'templates:write': 'content',
  'templates:publish': 'content',
  'messages:test': 'content',
  'senders:read': 'content',
  'senders:write': 'content',
  'domains:read': 'content',
  'domains:write': 'content',
  'lists:write': 'people',
  'contacts:read': 'people',
  'contacts:write': 'people',
  'suppressions:read': 'people',
  'suppressions:write': 'people',
  'account:read': 'set-up',
  'account:write': 'set-up',
  'audit:read': 'set-up',
  'users:read': 'set-up',
  'integrations:read': 'set-up',
  'integrations:write': 'set-up',
  'outbox:read': 'set-up',
  'webhooks:read': 'set-up',
  'webhooks:write': 'set-up',
};

const allScopes = Object.keys(groupByScope) as KeyScope[];

/** The scopes of a group that a person with these permissions can give to a key. */
export function scopesIn(group: ScopeGroup, permissions: readonly string[]): KeyScope[] {
  return allScopes.filter((scope) => groupByScope[scope] === group && permissions.includes(scope));
}

function isForSending(scope: string): boolean {
  return groupByScope[scope as KeyScope] === 'send';
}

/** A key limited to templates can only have the scopes for sending with templates. */
export function isAllowedForTemplateKeys(scope: string): boolean {
  return isForSending(scope) && scope !== 'messages:send-content';
}

/** The usual choices of scopes. */
export const keyPresets = ['send', 'read', 'full'] as const;

export type KeyPreset = (typeof keyPresets)[number];

/** The scopes of a preset, limited to the permissions of the person who creates the key. */
export function scopesOf(preset: KeyPreset, permissions: readonly string[]): KeyScope[] {
  return allScopes.filter((scope) => permissions.includes(scope) && isIn(preset, scope));
}

function isIn(preset: KeyPreset, scope: KeyScope): boolean {
  if (preset === 'send') return scope === 'messages:send' || scope === 'messages:status';
  return preset === 'full' || scope.endsWith(':read') || scope === 'messages:status';
}

/**
 * The preset with these scopes, for this person or for an owner; undefined for another choice. Listing contact lists is part of
 * what every sending program can do.
 */
export function presetOf(
  scopes: readonly string[],
  permissions: readonly string[],
): KeyPreset | undefined {
  if (scopes.includes('messages:send') && scopes.every(isForSending)) return 'send';
  return keyPresets.find((preset) =>
    [permissions, allScopes].some((available) => isSame(scopes, scopesOf(preset, available))),
  );
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && other.every((scope) => one.includes(scope));
}
