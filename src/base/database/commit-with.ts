import type { Kysely } from './open-database.ts';

/** Work to commit together with a change, such as its audit event. */
export type CommitWith = (transaction: Kysely) => Promise<void>;
