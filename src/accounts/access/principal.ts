import type { BlockList } from 'node:net';
import type { ClientId, PersonId, TemplateId } from '../../base/values/ids.ts';
import type { AccountReach, ReachedPerson } from '../account/reach.ts';
import type { Permission } from './permission.ts';

/** A person signed in with a browser. */
export interface PersonPrincipal extends ReachedPerson {
  readonly kind: 'person';
  /** Seconds since the person last proved who they are. */
  readonly confirmedAgo: number;
  /** The person has a passkey or an authenticator app, which their sign-in took. */
  readonly hasSecondFactor: boolean;
  /** A provider of OpenID Connect signed the person in, rather than a password or passkey; that of an account reaches only it. */
  readonly byProvider: boolean;
}

/** A program with an access token of `POST /token`, acting for its user; that of a code grant in one account. */
export interface TokenPrincipal extends ReachedPerson {
  readonly kind: 'token';
  readonly clientId: ClientId;
}

/** What a key sends: live messages, or test messages, which go to the account's inbox only. */
export const keyModes = ['live', 'test'] as const;
export type KeyMode = (typeof keyModes)[number];

/** A program with an API key, which belongs to one account. */
export interface KeyPrincipal {
  readonly kind: 'key';
  readonly keyId: string;
  readonly reach: AccountReach;
  readonly scopes: ReadonlySet<Permission>;
  /** Undefined: any network. */
  readonly networks: BlockList | undefined;
  /** Templates that the key can send with; undefined: every template of the account. */
  readonly templates: ReadonlySet<TemplateId> | undefined;
  readonly mode: KeyMode;
}

/** Whoever has the inbox's token or opened one of its one-time links: reads and deletes captured mail, nothing else. */
export interface InboxReader {
  readonly kind: 'inbox-reader';
}

/** The authenticated caller of a request. An anonymous request has none. */
export type Principal = PersonPrincipal | TokenPrincipal | KeyPrincipal;

/** Callers that `Authorization: Bearer …` can identify. */
export type BearerPrincipal = TokenPrincipal | KeyPrincipal;

/** The person whose rights a principal has; undefined for an API key, which has its own. */
export function personOf(principal: Principal): PersonId | undefined {
  return principal.kind === 'key' ? undefined : principal.personId;
}

/** What acts for a principal: the OAuth app of its token, its API key, or the console. */
export function clientIdOf(principal: Principal): ClientId {
  if (principal.kind === 'token') return principal.clientId;
  return (principal.kind === 'key' ? principal.keyId : 'console') as ClientId;
}
