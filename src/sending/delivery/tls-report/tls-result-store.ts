import type { Database } from '../../../base/database/open-database.ts';
import type { StsFetchFault } from '../mta-sts/fetch-sts-policy.ts';

/** RFC 8460 section 4.3: how a session with a domain's server ended with respect to TLS. */
export type TlsResultType =
  | 'success'
  | 'starttls-not-supported'
  | 'certificate-host-mismatch'
  | 'certificate-expired'
  | 'certificate-not-trusted'
  | 'validation-failure'
  | StsFetchFault;

/** One session, or one policy that could not be fetched. */
export interface TlsResult {
  /** The recipients' domain. */
  readonly domain: string;
  /** RFC 8460 section 4.4: the policy that applied to the session. */
  readonly policyType: 'sts' | 'no-policy-found';
  readonly type: TlsResultType;
  /** The receiving MX host; empty if none was reached. */
  readonly host: string;
}

/** Occurrences since the last write. */
export interface TlsCount extends TlsResult {
  readonly sessions: number;
}

/** A day's sessions with a domain under one kind of policy, across all nodes. */
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
    /** The receiving MX host; empty if none was reached. */
    readonly host: string;
    readonly sessions: number;
  }[];
}

/** Days in UTC, such as `2026-03-01`; absent fields don't filter. */
export interface TlsDayFilter {
  readonly from?: string | undefined;
  /** Inclusive. */
  readonly until?: string | undefined;
  readonly domain?: string | undefined;
}

/** A page starts after this one. */
export type TlsDayCursor = Pick<TlsDay, 'day' | 'domain' | 'policyType'>;

/** Counts for TLS reporting. Each node updates its own rows. */
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

  /** Newest day first, then by domain. */
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

  /** Deletes days that are too old to report. */
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
