import type { AccountId, ClientId, PersonId } from '../foundation/ids.ts';

/** On whose behalf a request comes, as its access token says. */
export interface Caller {
  readonly personId: PersonId;
  readonly clientId: ClientId;
  /** The one account of a token from the code grant; undefined: every account of the person. */
  readonly accountId: AccountId | undefined;
}
