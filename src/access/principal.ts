import type { BlockList } from 'node:net';
import type { AccountId, ClientId, PersonId, TemplateId } from '../foundation/ids.ts';
import type { Permission } from './permission.ts';

/** A person signed in with a browser. */
interface PersonPrincipal {
  readonly kind: 'person';
  readonly personId: PersonId;
  /** Seconds since the person last proved who they are. */
  readonly confirmedAgo: number;
  /** The person has a passkey or an authenticator app, which their sign-in took. */
  readonly hasSecondFactor: boolean;
  /** The provider that signed the person in; undefined: a password or passkey did. */
  readonly provider?: PrincipalProvider | undefined;
}

/** A provider of OpenID Connect that signed a person in. */
interface PrincipalProvider {
  /** The account whose provider it is, which is all that the person reaches; undefined: the installation's provider. */
  readonly accountId: AccountId | undefined;
}

/** A program with an access token of `POST /token`, acting for its user. */
export interface TokenPrincipal {
  readonly kind: 'token';
  readonly personId: PersonId;
  readonly clientId: ClientId;
  /** The account of a code grant; undefined: every account of the user. */
  readonly accountId: AccountId | undefined;
}

/** A program with an API key, which belongs to one account. */
export interface KeyPrincipal {
  readonly kind: 'key';
  readonly keyId: string;
  readonly accountId: AccountId;
  readonly scopes: ReadonlySet<Permission>;
  /** Undefined: any network. */
  readonly networks: BlockList | undefined;
  /** Templates that the key can send with; undefined: every template of the account. */
  readonly templates: ReadonlySet<TemplateId> | undefined;
}

/** The authenticated caller of a request. An anonymous request has none. */
export type Principal = PersonPrincipal | TokenPrincipal | KeyPrincipal;

/** Callers that `Authorization: Bearer …` can identify. */
export type BearerPrincipal = TokenPrincipal | KeyPrincipal;

/** The person whose rights a principal has; undefined for an API key, which has its own. */
export function personOf(principal: Principal): PersonId | undefined {
  return principal.kind === 'key' ? undefined : principal.personId;
}
