import type { Database } from '../../../base/database/open-database.ts';
import type { StsMode, StsPolicy } from './sts-policy.ts';

/** A stored policy, shared by all nodes. */
export interface StoredStsPolicy {
  readonly domain: string;
  /** `id` of the TXT record it was fetched for. */
  readonly recordId: string;
  readonly policy: StsPolicy;
  readonly fetchedAt: Date;
}

/** MTA-STS policies, shared by all nodes and kept across restarts. */
export class StsPolicyStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async read(domain: string): Promise<StoredStsPolicy | undefined> {
    const row = await this.#database.kysely
      .selectFrom('sts_policy')
      .selectAll()
      .where('domain', '=', domain)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const policy = { mode: row.mode as StsMode, mx: row.mx, maxAge: row.max_age };
    return { domain, recordId: row.record_id, policy, fetchedAt: row.fetched_at };
  }

  async save({ domain, recordId, policy, fetchedAt }: StoredStsPolicy): Promise<void> {
    const values = {
      record_id: recordId,
      mode: policy.mode,
      mx: [...policy.mx],
      max_age: policy.maxAge,
      fetched_at: fetchedAt,
    };
    await this.#database.kysely
      .insertInto('sts_policy')
      .values({ domain, ...values })
      .onConflict((conflict) => conflict.column('domain').doUpdateSet(values))
      .execute();
  }
}
