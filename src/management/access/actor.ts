import type { AccountId, ClientId, PersonId } from '../../foundation/ids.ts';
import type { Permission } from './permission.ts';

/** Who calls: a person by token or browser, or a machine by an API key. */
export type Actor =
  | {
      readonly kind: 'person';
      readonly personId: PersonId;
      /** The integration whose token it is; undefined for a browser. */
      readonly clientId: ClientId | undefined;
      /** The one account of a token from the code grant. */
      readonly boundTo: AccountId | undefined;
    }
  | {
      readonly kind: 'key';
      readonly keyId: string;
      readonly accountId: AccountId;
      readonly scopes: ReadonlySet<Permission>;
    };

/** The person behind a call; undefined for a machine. */
export function personOf(actor: Actor): PersonId | undefined {
  return actor.kind === 'person' ? actor.personId : undefined;
}
