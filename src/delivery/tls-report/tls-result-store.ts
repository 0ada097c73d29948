import type { Database } from '../../foundation/database/open-database.ts';
import type { TlsResult } from './tls-result.ts';

/** How often something was seen since it was written last. */
export interface TlsCount extends TlsResult {
  readonly sessions: number;
}

/** Counts of a day as RFC 8460 section 4 sums them up. */
export interface TlsSummary {
  readonly domain: string;
  readonly policyType: string;
  readonly type: string;
  readonly host: string;
  readonly sessions: number;
}

/** Counts for TLS reporting: each node adds to rows of its own. */
export class TlsResultStore {
  readonly #database: Database;
  readonly #node: string;

  constructor(database: Database, node: string) {
    this.#database = database;
    this.#node = node;
  }

  async add(counts: readonly TlsCount[]): Promise<void> {
    await this.#database.pool.query({
      name: 'tls-result-add',
      text: `
        insert into tls_result (day, domain, node, policy_type, type, host, sessions)
        select (now() at time zone 'utc')::date, domain, $1, "policyType", type, host, sessions
        from json_to_recordset($2::json) as x (domain text, "policyType" text, type text, host text, sessions bigint)
        on conflict (day, domain, node, policy_type, type, host) do update
          set sessions = tls_result.sessions + excluded.sessions`,
      values: [this.#node, JSON.stringify(counts)],
    });
  }

  /** The sums of a day in UTC, over all nodes. @param day `2026-03-01` */
  async sum(day: string): Promise<TlsSummary[]> {
    const { rows } = await this.#database.pool.query<TlsSummary>(
      `select domain, policy_type as "policyType", type, host, sum(sessions)::float8 as sessions
       from tls_result where day = $1
       group by domain, policy_type, type, host order by domain, type, host`,
      [day],
    );
    return rows;
  }

  /** Forgets days that nobody asks for any more. */
  async clean(): Promise<void> {
    await this.#database.pool.query(
      "delete from tls_result where day < (now() at time zone 'utc')::date - 60",
    );
  }
}
