import type { AccountId } from '../../base/values/ids.ts';

/**
 * The account that owns system mail. `parseAccountId` rejects this id, so no path, header, key, manifest or command
 * can name it.
 */
export const systemAccountId = '.system' as AccountId;

/** Kinds of system mail; each has a built-in template, which operators can replace. */
export const systemMailKinds = [
  'password-link',
  'invitation',
  'sender-confirmation',
  'security-notice',
] as const;
export type SystemMailKind = (typeof systemMailKinds)[number];

/** Languages of the built-in texts. */
export const locales = ['en', 'de', 'fr', 'es'] as const;
export type Locale = (typeof locales)[number];

export function isLocale(text: string | undefined): text is Locale {
  return locales.some((locale) => locale === text);
}

/** Events that security notices report. */
export const securityEvents = [
  'password-changed',
  'password-set-by-link',
  'second-factor-added',
  'second-factor-removed',
  'passkey-added',
  'passkey-removed',
  'provider-connected',
  'provider-disconnected',
  'recovery-codes-made',
  'new-browser',
  'sign-in-blocked',
  'api-key-created',
  'api-key-rotated',
  'security-address-changed',
  'archive-address-changed',
  'template-fields-revealed',
  'owner-added',
  'owner-removed',
  'you-are-owner',
  'you-are-no-owner',
  'operator-added',
  'you-are-operator',
] as const;
export type SecurityEvent = (typeof securityEvents)[number];

/** Facts of an email by name; never a secret. */
export type MailFacts = Readonly<Record<string, string>>;
