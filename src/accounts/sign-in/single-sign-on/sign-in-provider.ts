import type { AccountId } from '../../../base/values/ids.ts';

/** Roles that a provider can grant; programs don't sign in with one. */
export const providerRoles = ['owner', 'developer', 'marketer', 'viewer'] as const;

export type ProviderRole = (typeof providerRoles)[number];

export function isProviderRole(text: string): text is ProviderRole {
  return (providerRoles as readonly string[]).includes(text);
}

/** Who becomes a member of an account: people in a group of the provider, or with an address in a domain. */
export interface ProviderMemberRule {
  readonly accountId: AccountId;
  readonly role: ProviderRole;
  readonly who: { readonly group: string } | { readonly domain: string };
}

/** An OpenID Connect provider that people can sign in with. */
export interface SignInProvider {
  /** The account that set it up; undefined: the installation's. */
  readonly accountId: AccountId | undefined;
  /** Of an account's provider: what its people's sign-in link has, and nobody else knows. */
  readonly link?: string | undefined;
  /** For people: "Sign in with …". */
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Addresses count as verified even if the provider doesn't say so. */
  readonly trustEmail: boolean;
  readonly members: readonly ProviderMemberRule[];
  /** People of the installation's provider can't use a password or passkey, except operators. */
  readonly onlyProvider?: boolean;
}

const callbackPrefix = '/sign-in/oidc/callback';

/**
 * Where a provider sends people back. Each provider has its own path, so that a response can't be taken for another
 * provider's (RFC 9700 section 4.4.2.2).
 */
export function callbackPath(provider: Pick<SignInProvider, 'accountId'>): string {
  return provider.accountId === undefined
    ? callbackPrefix
    : `${callbackPrefix}/${provider.accountId}`;
}

/** The page that starts a sign-in with a provider. */
export function providerSignInPath({ link }: Pick<SignInProvider, 'link'>, next?: string): string {
  const query = new URLSearchParams({ ...(link && { link }), ...(next && { next }) });
  return `/sign-in/oidc${query.size === 0 ? '' : `?${query}`}`;
}
