import type { Database } from './open-database.ts';

/** What a caller wants committed together with a change, such as the audit event that tells of it. */
export type CommitWith = (transaction: Database['kysely']) => Promise<void>;
