import type { AccountId, ListId } from '../../foundation/ids.ts';

/** The target of an import: a contact list or the account's suppressions. */
export interface ImportTarget {
  readonly accountId: AccountId;
  /** Undefined: suppressions. */
  readonly listId: ListId | undefined;
}

export interface ImportKey extends ImportTarget {
  readonly importId: string;
}
