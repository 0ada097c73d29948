import type { BlockList } from 'node:net';
import type { AccountId, ClientId, PersonId, TemplateId } from '../foundation/ids.ts';
import type { Permission } from './permission.ts';

/** A person in a signed-in browser. */
interface PersonPrincipal {
  readonly kind: 'person';
  readonly personId: PersonId;
}

/** A program with an access token of `POST /token`, which acts for its user. */
export interface TokenPrincipal {
  readonly kind: 'token';
  readonly personId: PersonId;
  readonly clientId: ClientId;
  /** The one account of the code grant; undefined: every account of the user. */
  readonly accountId: AccountId | undefined;
}

/** A program with an API key of one account. */
export interface KeyPrincipal {
  readonly kind: 'key';
  readonly keyId: string;
  readonly accountId: AccountId;
  readonly scopes: ReadonlySet<Permission>;
  /** Undefined: every network. */
  readonly networks: BlockList | undefined;
  /** Templates that it may send with; undefined: every template of the account. */
  readonly templates: ReadonlySet<TemplateId> | undefined;
}

/** Who makes a request. A request without one comes from a stranger. */
export type Principal = PersonPrincipal | TokenPrincipal | KeyPrincipal;

/** What `Authorization: Bearer …` can carry. */
export type BearerPrincipal = TokenPrincipal | KeyPrincipal;

/** The person whose rights a principal has; undefined for an API key, which has its own. */
export function personOf(principal: Principal): PersonId | undefined {
  return principal.kind === 'key' ? undefined : principal.personId;
}
