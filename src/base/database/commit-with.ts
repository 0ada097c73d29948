import type { Database } from './open-database.ts';

/** Work to commit together with a change, such as its audit event. */
export type CommitWith = (transaction: Database['kysely']) => Promise<void>;
