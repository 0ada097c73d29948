import type { Database } from '../../foundation/database/open-database.ts';
import type { TlsResult } from './tls-result.ts';

/** How often something was seen since it was written last. */
export interface TlsCount extends TlsResult {
  readonly sessions: number;
}

/** Sessions of a day with a domain under one kind of policy, over all nodes. */
export interface TlsDay {
  /** In UTC: `2026-03-01`. */
  readonly day: string;
  readonly domain: string;
  readonly policyType: TlsResult['policyType'];
  readonly success: number;
  readonly failed: number;
  /** Most sessions first. */
  readonly failures: readonly {
    readonly type: string;
    /** The receiving MX host; empty where it never came to one. */
    readonly host: string;
    readonly sessions: number;
  }[];
}

/** Days in UTC, as in `2026-03-01`; what is absent limits nothing. */
export interface TlsDayFilter {
  readonly from?: string | undefined;
  /** Included. */
  readonly until?: string | undefined;
  readonly domain?: string | undefined;
}

/** Where a page of days begins: after this one. */
export type TlsDayCursor = Pick<TlsDay, 'day' | 'domain' | 'policyType'>;

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

  /** Newest day first, then by domain. @param limit how many at most */
  async list(
    { from, until, domain }: TlsDayFilter,
    limit: number,
    after?: TlsDayCursor,
  ): Promise<TlsDay[]> {
    const { rows } = await this.#database.pool.query<TlsDay>(listStatement, [
      from ?? null,
      until ?? null,
      domain ?? null,
      after?.day ?? null,
      after?.domain ?? null,
      after?.policyType ?? null,
      limit,
    ]);
    return rows;
  }

  /** Forgets days that nobody asks for any more. */
  async clean(): Promise<void> {
    await this.#database.pool.query(
      "delete from tls_result where day < (now() at time zone 'utc')::date - 60",
    );
  }
}

const listStatement = `
  with sums as (
    select day, domain, policy_type, type, host, sum(sessions)::float8 as sessions
    from tls_result
    where ($1::date is null or day >= $1) and ($2::date is null or day <= $2)
      and ($3::text is null or domain = $3)
      and ($4::date is null or day < $4 or (day = $4 and (domain, policy_type) > ($5::text, $6::text)))
    group by day, domain, policy_type, type, host)
  select to_char(day, 'YYYY-MM-DD') as day, domain, policy_type as "policyType",
    coalesce(sum(sessions) filter (where type = 'success'), 0) as success,
    coalesce(sum(sessions) filter (where type <> 'success'), 0) as failed,
    coalesce(
      json_agg(json_build_object('type', type, 'host', host, 'sessions', sessions) order by sessions desc, type, host)
        filter (where type <> 'success'),
      '[]') as failures
  from sums
  group by sums.day, domain, policy_type
  order by sums.day desc, domain, policy_type
  limit $7`;
